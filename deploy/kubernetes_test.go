package deploy_test

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

type probe struct {
	HTTPGet struct {
		Path, Port string
	} `yaml:"httpGet"`
	TimeoutSeconds int `yaml:"timeoutSeconds"`
}

type container struct {
	Name  string
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	Lifecycle      struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Resources struct{ Requests, Limits map[string]string }
}

// object is what these tests read of any kind of object.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Selector any
		Ports    []struct {
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		Template struct {
			Metadata struct{ Labels, Annotations map[string]string }
			Spec     struct {
				Grace           int `yaml:"terminationGracePeriodSeconds"`
				SecurityContext struct {
					RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
					RunAsUser      int                   `yaml:"runAsUser"`
					RunAsGroup     int                   `yaml:"runAsGroup"`
					SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
				} `yaml:"securityContext"`
				Containers []container
				Volumes    []struct {
					Name      string
					ConfigMap struct{ Name string } `yaml:"configMap"`
					Secret    struct {
						SecretName string `yaml:"secretName"`
					}
				}
			}
		}
	}
}

// manifest returns the objects of kubernetes.yaml by kind.
func manifest(t *testing.T) map[string]object {
	t.Helper()
	all := map[string]object{}
	for d := yaml.NewDecoder(strings.NewReader(read(t, "deploy/kubernetes.yaml"))); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[o.Kind] = o
	}
	if kinds := slices.Sorted(maps.Keys(all)); !slices.Equal(kinds, []string{"ConfigMap", "Deployment", "Service"}) {
		t.Fatalf("the manifest has %q", kinds)
	}
	return all
}

// bridgeConfig is what these tests read of the configuration file.
type bridgeConfig struct {
	Listen, Admin string
	AdminToken    string        `yaml:"admin_token"`
	AllowHosts    []string      `yaml:"allow_hosts"`
	DrainTimeout  time.Duration `yaml:"drain_timeout"`
	Routes        []struct{ Path, Upstream string }
}

// sidecar returns the bridge's container, the server's, and the text of the
// file that the bridge reads.
func sidecar(t *testing.T) (bridge, server container, file string) {
	t.Helper()
	m := manifest(t)
	containers := m["Deployment"].Spec.Template.Spec.Containers
	if len(containers) != 2 || containers[0].Name != "mcpbridge" {
		t.Fatalf("the pod has the containers %v", containers)
	}
	bridge = containers[0]
	i := slices.Index(bridge.Args, "--config")
	if i < 0 || i+1 == len(bridge.Args) {
		t.Fatalf("the bridge reads no file: %q", bridge.Args)
	}
	dir, name := filepath.Split(bridge.Args[i+1])
	volumes := m["Deployment"].Spec.Template.Spec.Volumes
	if len(bridge.VolumeMounts) != 2 || bridge.VolumeMounts[0].MountPath != filepath.Clean(dir) ||
		len(volumes) != 2 || volumes[0].Name != bridge.VolumeMounts[0].Name || volumes[0].ConfigMap.Name != m["ConfigMap"].Metadata.Name {
		t.Fatalf("%s is not where the ConfigMap is mounted", dir)
	}
	file, ok := m["ConfigMap"].Data[name]
	if !ok {
		t.Fatalf("the ConfigMap has no %s", name)
	}
	return bridge, containers[1], file
}

func parsed(t *testing.T, file string) (c bridgeConfig) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(file), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestManifestPortsAgree(t *testing.T) {
	bridge, _, file := sidecar(t)
	cfg, m := parsed(t, file), manifest(t)
	named := map[string]string{}
	for _, p := range bridge.Ports {
		named[p.Name] = strconv.Itoa(p.ContainerPort)
	}
	if listen := ports([]string{cfg.Listen, cfg.Admin}); !slices.Equal(listen, []string{named["mcp"], named["admin"]}) {
		t.Errorf("the file opens %q, the container %v", listen, named)
	}
	if got := m["Deployment"].Spec.Template.Metadata.Annotations; len(got) > 0 {
		t.Errorf("who scrapes by the annotations %v shows no token", got)
	}
	admin, volume := bridge.VolumeMounts[1], m["Deployment"].Spec.Template.Spec.Volumes[1]
	if cfg.AdminToken != "${file:"+admin.MountPath+"/token}" || volume.Name != admin.Name || volume.Secret.SecretName == "" ||
		!strings.Contains(read(t, "deploy/kubernetes.yaml"), "kubectl create secret generic "+volume.Secret.SecretName+" --from-literal=token=") {
		t.Errorf("the token %s does not come from the Secret %+v", cfg.AdminToken, volume)
	}
	service := m["Service"].Spec
	if len(service.Ports) != 1 || named[service.Ports[0].TargetPort] != named["mcp"] {
		t.Errorf("the Service leads to %v", service.Ports)
	}
	for key, value := range service.Selector.(map[string]any) {
		if m["Deployment"].Spec.Template.Metadata.Labels[key] != value {
			t.Errorf("no pod has the label %s: %v", key, value)
		}
	}
	if !slices.Contains(cfg.AllowHosts, m["Service"].Metadata.Name) {
		t.Errorf("the Service's name is not among the allowed hosts %q", cfg.AllowHosts)
	}
}

// The bridge leaves the Service, drains and says good-bye before the server
// stops and before the kubelet loses patience.
func TestManifestStopsInOrder(t *testing.T) {
	const goodbye = 3 * time.Second
	bridge, server, file := sidecar(t)
	grace := time.Duration(manifest(t)["Deployment"].Spec.Template.Spec.Grace) * time.Second
	leaving := time.Duration(bridge.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	staying := time.Duration(server.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	drain := parsed(t, file).DrainTimeout
	if leaving == 0 || drain == 0 {
		t.Errorf("the bridge leaves for %v and drains for %v", leaving, drain)
	}
	if gone := leaving + drain + goodbye; gone >= staying || staying >= grace {
		t.Errorf("the bridge is gone after %v, the server is told to stop after %v, the pod is killed after %v", gone, staying, grace)
	}
}

func TestManifestIsRestricted(t *testing.T) {
	pod := manifest(t)["Deployment"].Spec.Template.Spec
	of := pod.SecurityContext
	if user := strconv.Itoa(of.RunAsUser) + ":" + strconv.Itoa(of.RunAsGroup); !of.RunAsNonRoot || user != only(t, "USER") {
		t.Errorf("the pod runs as %s, non-root %v; the image as %s", user, of.RunAsNonRoot, only(t, "USER"))
	}
	if of.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("seccomp %q", of.SeccompProfile.Type)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
			t.Errorf("%s: %+v", c.Name, s)
		}
		if c.Resources.Requests["cpu"] == "" || c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" {
			t.Errorf("%s: resources %v", c.Name, c.Resources)
		}
	}
}

// The program runs with the arguments and the file of the manifest; only
// ports and the server are those of this machine.
func TestManifestServes(t *testing.T) {
	bridge, _, file := sidecar(t)
	cfg := parsed(t, file)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "nothing here", http.StatusMethodNotAllowed)
	}))
	defer server.Close()
	const token = "a-token-that-is-long-enough"
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	local := strings.NewReplacer(cfg.AdminToken, "${file:"+secret+"}", cfg.Listen, "0.0.0.0:0", cfg.Admin, "0.0.0.0:0", cfg.Routes[0].Upstream, server.URL+"/mcp").Replace(file)
	path := filepath.Join(t.TempDir(), "mcpbridge.yaml")
	if err := os.WriteFile(path, []byte(local), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text := tell(t, "validate", path); code != 0 {
		t.Fatalf("validate: %d %s", code, text)
	}
	args := slices.Clone(bridge.Args)
	args[slices.Index(args, "--config")+1] = path
	p := start(t, nil, args...)
	// The kubelet and Prometheus address a pod by its address.
	address := net.JoinHostPort(ownAddress(t), regexp.MustCompile(`:(\d+)/`).FindStringSubmatch(p.Admin)[1])
	for page, want := range map[string]int{bridge.LivenessProbe.HTTPGet.Path: 200, bridge.ReadinessProbe.HTTPGet.Path: 200, "/metrics": 401, "/": 401} {
		if status, body := ask(t, "GET", strings.TrimSuffix(p.Admin, "/")+page, address); status != want || strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s under the name %s: %d %s", page, address, status, body)
		}
	}
	if status, body := ask(t, "GET", strings.TrimSuffix(p.Admin, "/")+"/metrics", address, token); status != http.StatusOK {
		t.Errorf("/metrics with the token: %d %s", status, body)
	}
	// Clients come by the Service's names, and nobody by others.
	for _, host := range append(cfg.AllowHosts, "foreign.example") {
		status, body := ask(t, "GET", p.Endpoint, host+":8080")
		if refused := status == http.StatusForbidden; refused != (host == "foreign.example") {
			t.Errorf("a client that comes by %s: %d %s", host, status, body)
		}
	}
}

// ownAddress returns an address of this machine that is not the loopback
// one, where it has any.
func ownAddress(t *testing.T) string {
	t.Helper()
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if n, ok := i.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
