// Package admin answers operators: metrics, and whether the bridge and its
// upstream are well.
//
// It refuses to change anything: all it serves is read with GET or HEAD.
package admin
