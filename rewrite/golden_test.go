package rewrite_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

func TestGolden(t *testing.T) {
	golden.Run(t, "testdata", nil, rewrite.Deps{Validate: schema.Validate})
}
