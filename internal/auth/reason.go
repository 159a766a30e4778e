package auth

// Reason is why a request was refused, for logs and metrics: a word of a
// fixed list, which holds nothing of what the client sent. Clients are not
// told.
type Reason string

// The reasons. Those of a JSON Web Token whose signature was not looked at
// say what is wrong with its claims.
const (
	NoCredential    Reason = "no-credential"
	TokenInQuery    Reason = "token-in-query"        // access_token in the URL
	SeveralHeaders  Reason = "several-authorization" // more than one Authorization header
	Malformed       Reason = "malformed"             // no bearer token by RFC 6750, or no JSON Web Token
	TooLong         Reason = "too-long"
	UnknownToken    Reason = "unknown-token" // neither a static token nor a JSON Web Token
	BadHeader       Reason = "bad-header"    // of a JSON Web Token, critical extensions among it
	BadAlgorithm    Reason = "algorithm"
	BadClaims       Reason = "bad-claims" // wrong types, names that occur twice, no subject or end
	WrongIssuer     Reason = "issuer"
	WrongAudience   Reason = "audience"
	Expired         Reason = "expired"
	NotYetValid     Reason = "not-yet-valid"
	UnknownKey      Reason = "unknown-key"
	BadSignature    Reason = "signature"
	NotBound        Reason = "not-bound" // a token bound to a key that was not shown
	MissingScope    Reason = "scope"
	BadCertificate  Reason = "certificate"
	KeysUnavailable Reason = "keys-unavailable" // the key set could not be fetched, or not lately
	TooManyAtOnce   Reason = "busy"             // too many signatures to check
	accepted        Reason = ""
)
