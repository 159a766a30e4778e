module github.com/mcpbridge/mcpbridge/interop

go 1.26
