module github.com/mcpbridge/mcpbridge/interop/peers/gosdk

go 1.26

require (
	github.com/mcpbridge/mcpbridge/interop/peers/peerkit v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.0.0
)

require (
	github.com/google/jsonschema-go v0.3.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
)

replace github.com/mcpbridge/mcpbridge/interop/peers/peerkit => ../peerkit
