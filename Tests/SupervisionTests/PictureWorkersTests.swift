import Engines
import Settings
import Supervision
import Testing

/// The workers that make pictures for the page.
@Suite struct PictureWorkersTests {
    @Test(arguments: [nil, ["/pictures"]]) func `they have the sandbox of the settings`(roots: [String]?) throws {
        let launch = Settings.LaunchEnvironment(
            environment: ["PENUMBRA_SANDBOX": "require"], currentFolder: "/work", programFolder: "/opt/penumbra/bin",
            cores: 1, memory: 1 << 30, homeFolder: "/home/ada"
        ) { path in path == "/etc/penumbra/penumbra.yaml" ? .bytes(Array("sandbox_read: [/icc]\n".utf8)) : .nothing }
        let workers = PictureWorkers(
            try Settings(Settings.Flags(), launch), program: "/opt/penumbra/bin/penumbra", confined: ConfinedPlaces())
        let engine = try #require(try workers.engine(roots, work: "/work/pictures") as? LocalEngine)
        #expect(engine.command.environment["PENUMBRA_SANDBOX"] == "require")
        #expect(engine.command.readable == ["/icc"])
    }
}
