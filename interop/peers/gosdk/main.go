// Command gosdk is the peer built on the official Go SDK. One source serves two
// SDK versions: go.mod holds the older one, v1.8.0.mod (go build -modfile) the
// newer, and the build tag sdk_v1_8_0 selects what differs between them. The tag
// stateless, with the newer one, makes the peer speak the stateless revision.
package main
