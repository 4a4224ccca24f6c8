import Engines
import Testing

@Suite struct WorkerEnvironmentTests {
    @Test(arguments: [
        "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "PGPASSWORD", "MY_LANG", "HOMEPAGE", "penumbra_x",
    ]) func `secrets of the coordinator do not reach workers`(name: String) {
        #expect(WorkerEnvironment.allowed(of: [name: "secret"], more: []).isEmpty)
    }

    @Test(arguments: [
        "HOME", "PATH", "TMPDIR", "LANG", "LC_ALL", "TZ", "PENUMBRA_CPU", "VIPS_CONCURRENCY", "XDG_CACHE_HOME",
        "FONTCONFIG_FILE", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "GLIBC_TUNABLES",
    ]) func `what workers read reaches them`(name: String) {
        #expect(WorkerEnvironment.allowed(of: [name: "value"], more: []) == [name: "value"])
    }

    @Test func `settings name more, whole or by their beginning`() {
        let variables = ["LICENSE_SERVER": "a", "LICENSE_SERVERS": "b", "ACME_A": "c", "ACME": "d"]
        #expect(
            WorkerEnvironment.allowed(of: variables, more: ["LICENSE_SERVER", "ACME_*"])
                == ["LICENSE_SERVER": "a", "ACME_A": "c"])
    }

    @Test func `a cluster's jobs get what workers get, and who they run for`() {
        let variables = [
            "AWS_SECRET_ACCESS_KEY": "s3cret", "PATH": "/bin", "USER": "ada", "PENUMBRA_WORKERS": "2", "ACME_KEY": "a",
            "LC_ODD-NAME": "b",
        ]
        #expect(
            WorkerEnvironment.namesForJobs(of: variables, more: ["ACME_*"])
                == ["ACME_KEY", "PATH", "PENUMBRA_WORKERS", "USER"])
    }
}
