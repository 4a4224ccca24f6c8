import Digests
import Filters
import Foundation
import Glibc
import PluginLoading
import TestSupport
import Testing

/// Which files may be opened as plugins, by what they hold.
struct PluginPinTests {
    private let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture()
    }

    @Test func `a pinned file is used while it is the one that was pinned`() throws {
        let path = try fixture.build("spread")
        let digest = try #require(SHA256.digest(ofFile: path))
        let pinned = PluginPolicy(pins: [PluginPolicy.Pin(file: "libspread.so", sha256: digest)])
        #expect(fixture.load(policy: pinned).plugins.map(\.name) == ["spread"])
        let other = PluginPolicy(pins: [PluginPolicy.Pin(file: "libspread.so", sha256: String(digest.reversed()))])
        let (plugins, problems) = fixture.load(policy: other)
        #expect(plugins.isEmpty)
        #expect(
            problems == [
                "plugin \(path) is not the file that was pinned: its SHA-256 is \(digest); put that file back, or pin "
                    + "this one"
            ])
    }

    @Test func `a file that is pinned, twice even, and is not there is told once`() throws {
        try fixture.build("spread")
        let policy = PluginPolicy(pins: ["0", "1"].map { PluginPolicy.Pin(file: "libsprad.so", sha256: $0) })
        let (plugins, problems) = fixture.load(policy: policy)
        #expect(plugins.map(\.name) == ["spread"])
        #expect(
            problems == ["the pin of 'libsprad.so' fits no file in the plugin folders; correct or remove it"])
    }

    @Test func `where only pinned plugins may run, others are refused before they are opened`() throws {
        let path = try fixture.build("spread")
        let digest = try #require(SHA256.digest(ofFile: path))
        let (plugins, problems) = fixture.load(policy: PluginPolicy(isPinnedOnly: true))
        #expect(plugins.isEmpty)
        #expect(
            problems == [
                "plugin \(path) has no pin, and 'plugins: pinned-only' refuses those; to use it, add '{file: "
                    + "libspread.so, sha256: \(digest)}' to 'plugin_pins'"
            ])
    }

    @Test(.triesPlugins) func `a pinned library that is no library is named by its path`() throws {
        let path = fixture.folder.file("libtext.so")
        try "no library".write(toFile: path, atomically: true, encoding: .utf8)
        let digest = try #require(SHA256.digest(ofFile: path))
        let policy = PluginPolicy(pins: [PluginPolicy.Pin(file: "libtext.so", sha256: digest)])
        #expect(
            fixture.load(policy: policy, trial: PluginTrial()).problems == [
                "plugin \(path) cannot be opened (\(path): file too short); build it on this machine, with its libraries "
                    + "installed"
            ])
    }

    @Test(.triesPlugins) func `pinned libraries are told from each other, however many there are`() throws {
        let paths = try [fixture.build("spread"), fixture.build("threshold"), fixture.build("mirror")]
        let pins = try paths.map { path in
            let digest = try #require(SHA256.digest(ofFile: path))
            return PluginPolicy.Pin(file: URL(filePath: path).lastPathComponent, sha256: digest)
        }
        let policy = PluginPolicy(pins: pins, isPinnedOnly: true)
        #expect(
            fixture.load(policy: policy, trial: PluginTrial()).plugins.map(\.name) == ["mirror", "spread", "threshold"])
    }

    /// The first library of the folder, by its name, exchanges the second one while it is opened.
    @Test func `a file that is exchanged after it was compared is not what runs`() throws {
        let path = try fixture.build("spread", as: "libb.so")
        let other = try fixture.build("threshold", as: "other.so")
        let first = try fixture.build("start", as: "liba.so", ["START=rename(\"\(other)\",\"\(path)\");"])
        let pins = try [first, path].map { path in
            let digest = try #require(SHA256.digest(ofFile: path))
            return PluginPolicy.Pin(file: URL(filePath: path).lastPathComponent, sha256: digest)
        }
        let (plugins, _) = fixture.load(policy: PluginPolicy(pins: pins))
        #expect(access(other, F_OK) != 0)
        #expect(plugins.map(\.name) == ["spread"])
    }
}
