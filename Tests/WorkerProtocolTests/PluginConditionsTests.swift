import Testing
import WorkerProtocol

@Suite struct PluginConditionsTests {
    private func conditions(_ pins: [String: String], isPinnedOnly: Bool = false) -> PluginConditions {
        var conditions = PluginConditions()
        conditions.pins = pins.sorted { $0.key < $1.key }.map { PluginConditions.Pin(file: $0.key, sha256: $0.value) }
        conditions.isPinnedOnly = isPinnedOnly
        return conditions
    }

    @Test func `a shard cannot take back that all plugins need a pin, nor bring pins of its own then`() {
        let restricted = conditions(["libEvil.so": "ee"]).restricted(
            by: conditions(["libGood.so": "aa"], isPinnedOnly: true))
        #expect(restricted.isPinnedOnly)
        #expect(restricted.pins == conditions(["libGood.so": "aa"]).pins)
    }

    @Test func `folders of a shard that the machine's settings do not name are foreign`() {
        var (shard, own) = (PluginConditions(), PluginConditions())
        shard.folders = ["/home/evil", "/opt/plugins"]
        own.folders = ["/opt/plugins", "/srv/plugins"]
        let restricted = shard.restricted(by: own)
        #expect(restricted.folders == ["/home/evil", "/opt/plugins"])
        #expect(restricted.foreignFolders == ["/home/evil"])
    }

    @Test func `a shard cannot say that a folder is not foreign`() {
        var shard = PluginConditions()
        (shard.folders, shard.foreignFolders) = (["/home/evil"], [])
        #expect(shard.restricted(by: PluginConditions()).foreignFolders == ["/home/evil"])
    }

    @Test func `conditions keep the names that shards have stored`() throws {
        let text = try PluginConditions().text()
        for name in ["folders", "strangeFolders", "pins", "isPinnedOnly", "refused"] {
            #expect(text.contains("\"\(name)\":"))
        }
    }

    @Test func `a machine's own pin counts before a shard's`() {
        let restricted = conditions(["a.so": "11", "b.so": "22"]).restricted(by: conditions(["a.so": "33"]))
        #expect(restricted.pins == conditions(["a.so": "33", "b.so": "22"]).pins)
        #expect(!restricted.isPinnedOnly)
    }
}
