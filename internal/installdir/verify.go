package installdir

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pluginlock/plugins/internal/store/plain"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// PluginDir returns where the files of a plugin are in the install directory
// dir.
func PluginDir(dir, name string) string { return filepath.Join(dir, pluginsDir, name) }

// Verify reads every copied file of the plugins that an install directory keeps
// and returns what is wrong, by name. Links into the store are not followed:
// what they lead to is the store's to verify.
//
// Errors: the context's; [*StateError].
func Verify(ctx context.Context, dir string, d Desired) (map[string]string, error) {
	state, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if d, err = d.complete(ctx); err != nil {
		return nil, err
	}
	wrong := map[string]string{}
	for _, p := range d.Plugins {
		i, ok := state.Plugins[p.Name]
		if !ok {
			continue
		}
		if reason := verifyCopy(ctx, dir, p, i); reason != "" {
			wrong[p.Name] = reason
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// verifyCopy says what is wrong with the files that were copied for one plugin.
func verifyCopy(ctx context.Context, dir string, p Plugin, i Installed) string {
	if i.receipt != nil {
		if _, reason := hashCopy(ctx, PluginDir(dir, p.Name), p); reason != "" {
			return reason
		}
	}
	if i.binCopy == nil {
		return ""
	}
	now, err := describeBin(ctx, dir, i.Bin)
	if err != nil || now.Digest != i.ExecutableDigest || !now.Executable {
		return "its program below bin is another one"
	}
	return ""
}

// hashCopy reads a copy and says how it differs from what the plugin consists
// of.
func hashCopy(ctx context.Context, dir string, p Plugin) (now *tree.Receipt, reason string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil, "its copy is gone"
	}
	root, err := plain.OpenDir(dir)
	if err != nil {
		return nil, "its copy cannot be read"
	}
	defer func() { _ = root.Close() }() // only read from
	now, err = tree.Hash(ctx, root, tree.Executables(p.Records))
	if err != nil {
		return nil, err.Error()
	}
	return now, tree.Difference(now.Records(), p.Records)
}
