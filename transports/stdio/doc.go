// Package stdio carries messages as lines over the standard streams of a
// process: on the server side those of a child that it starts and supervises,
// on the client side those of its own process.
//
// It refuses to use a shell, to put anything but protocol on an output, to
// answer what is no message (field report 84), and to leave a process behind.
package stdio

// Name is the name of this transport in metrics.
const Name = "stdio"
