//go:build !unix

package main

import "os"

// terminalWidth returns 0: the width of this system's terminals is not asked
// for.
func terminalWidth(*os.File) int { return 0 }
