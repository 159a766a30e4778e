// Package metrics counts what the bridge does, as Prometheus metrics with the
// prefix mcpbridge_. A Metrics has the methods of the bridge's observer.
//
// It refuses to keep state outside the registry it is given, and to let a peer
// choose label values: what is not in a known, bounded set is counted as
// "other". Names of clients and servers are never labels.
package metrics
