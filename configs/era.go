package configs

// Era says whether conversations with the server begin with a handshake.
type Era string

// The eras.
const (
	EraAuto   Era = "auto"   // found out by asking
	EraLegacy Era = "legacy" // by handshake and session
	EraModern Era = "modern" // every request stands for itself
)

// UpstreamEras returns the names of eras, the default first.
func UpstreamEras() []string {
	return []string{string(EraAuto), string(EraLegacy), string(EraModern)}
}
