// Package rewrite holds what each protocol revision changed and turns it into
// pipelines that carry messages between two versions.
//
// The ladder lists the revisions, oldest first. Each rung lists its changes:
// shape changes are pure edits of one message, conversation changes are stages
// with a memory. Adding a revision is one file, one line in Standard, and its
// cases.
//
// The package does no I/O, reads no clock and keeps no state outside of a
// Pipeline. It is the only one that knows a version by its date.
package rewrite
