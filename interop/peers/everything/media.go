package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
)

// picture is the smallest PNG there is.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// silence is a WAV file without samples: mono, 8 kHz, 8 bits.
func silence() []byte {
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36)
	b = append(b, "WAVEfmt "...)
	for _, field := range []uint32{16, 1 | 1<<16, 8000, 8000, 1 | 8<<16} {
		b = binary.LittleEndian.AppendUint32(b, field)
	}
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, 0)
}
