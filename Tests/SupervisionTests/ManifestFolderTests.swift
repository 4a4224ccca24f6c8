import Confinement
import Foundation
import Glibc
import JobModel
import Queueing
import Settings
import Supervision
import TestSupport
import Testing

/// What is refused before any worker is asked: manifests outside of a token's folders, and folders that cannot be used.
@Suite struct ManifestFolderTests {
    private let folder: TemporaryFolder
    private let top: String

    init() throws {
        folder = try TemporaryFolder()
        top = RealPath.resolve(folder.path)
        for name in ["team", "other", "service"] {
            try FileManager.default.createDirectory(atPath: "\(top)/\(name)", withIntermediateDirectories: true)
        }
        try Data("job: night\n".utf8).write(to: URL(filePath: "\(top)/other/night.yaml"))
    }

    private func checker(_ landlock: Landlock.Support = .version(4)) throws -> FarmManifestChecker {
        let launch = Settings.LaunchEnvironment(
            environment: [:], currentFolder: top, programFolder: "\(top)/programs", cores: 1, memory: 1 << 30,
            homeFolder: top
        ) { _ in .nothing }
        return FarmManifestChecker(
            try Settings(Settings.Flags(), launch), serviceFolder: "\(top)/service", apartFrom: ["\(top)/service"],
            landlock: landlock)
    }

    /// The words of the refusal.
    private func refusal(
        of place: ManifestSource.Place, within roots: [String], _ landlock: Landlock.Support = .version(4)
    ) async throws -> [String] {
        var options = RunOptions()
        options.roots = roots
        let error = await #expect(throws: FolderRefusal.self) {
            _ = try await checker(landlock).check(place, name: nil, options)
        }
        let refusal = try #require(error)
        return [refusal.message] + refusal.errors.map(\.message)
    }

    @Test func `a kernel without Landlock takes no jobs of tokens with folders`() async throws {
        let words = try await refusal(
            of: .file(path: "\(top)/team/night.yaml"), within: ["\(top)/team"], .missing(.switchedOff))
        #expect(
            words == [
                """
                jobs of tokens with folders do not run on this machine: this kernel has no Landlock: it is switched off
                   = add 'landlock' to the kernel's parameter 'lsm=', which names the security modules
                """
            ])
    }

    @Test func `a manifest outside is refused, also by a link and by dots`() async throws {
        symlink("../other/night.yaml", "\(top)/team/link.yaml")
        for path in ["\(top)/other/night.yaml", "\(top)/team/link.yaml", "\(top)/team/../other/night.yaml"] {
            let words = try await refusal(of: .file(path: path), within: ["\(top)/team"])
            #expect(words.count == 2)
            #expect(words[0] == "\(path): a path outside of the token's folders")
            #expect(words[1].hasSuffix("is outside of the token's folders: \(top)/team"))
        }
    }

    @Test func `the folder of an uploaded manifest is checked`() async throws {
        let words = try await refusal(
            of: .uploaded(text: "job: a\n", folder: "\(top)/other"), within: ["\(top)/team"])
        #expect(
            words == [
                "\(top)/other/job.yaml: a path outside of the token's folders",
                "the manifest's folder: '\(top)/other' is outside of the token's folders: \(top)/team",
            ])
    }

    @Test func `folders that are gone, or that hold something of the service, are refused`() async throws {
        let manifest = ManifestSource.Place.file(path: "\(top)/team/night.yaml")
        #expect(
            try await refusal(of: manifest, within: ["\(top)/gone"])[0].hasPrefix(
                "the folder \(top)/gone cannot be used: No such file or directory"))
        #expect(
            try await refusal(of: manifest, within: [top])[0].hasPrefix(
                "the folder \(top): jobs of the token could change '\(top)/service', which belongs to the service"))
    }

    @Test func `a folder that has become a link since the token was made is refused`() async throws {
        symlink("other", "\(top)/link")
        let words = try await refusal(of: .file(path: "\(top)/link/night.yaml"), within: ["\(top)/link"])
        #expect(
            words == [
                """
                a folder of the token is a symbolic link now, and leads to '\(top)/other'
                   = put the folder back, or ask an administrator for a token with '--root \(top)/other'
                """
            ])
    }

    @Test func `a token without any folder has no manifest`() async throws {
        let words = try await refusal(of: .file(path: "\(top)/team/night.yaml"), within: [])
        #expect(words[1].contains("is outside of the token's folders, of which it has none"))
    }

    @Test func `a manifest that is no text is refused, and is not read a second time`() async throws {
        try Data([0xff, 0xfe, 0x0a]).write(to: URL(filePath: "\(top)/team/night.yaml"))
        var options = RunOptions()
        options.roots = ["\(top)/team"]
        let error = await #expect(throws: ManifestRefusal.self) {
            _ = try await checker().check(.file(path: "\(top)/team/night.yaml"), name: nil, options)
        }
        #expect(error?.errors.map(\.message) == ["the manifest is not UTF-8 text"])
        #expect(error?.outcome == .badManifest)
    }

    @Test(arguments: [
        "hunter2-top-secret\n", "root:x:0:0:root:/root:/bin/bash\n", "secret: hunter2\nother: [hunter2\n",
        "- hunter2\n", "",
    ])
    func `no text of a file that is no manifest is in the answer`(text: String) async throws {
        let path = "\(top)/other/secret.txt"
        try Data(text.utf8).write(to: URL(filePath: path))
        let error = await #expect(throws: ManifestRefusal.self) {
            _ = try await checker().check(.file(path: path), name: nil, RunOptions())
        }
        #expect(
            error
                == ManifestRefusal(
                    manifest: path,
                    errors: [
                        ManifestFault(
                            message:
                                "\(path): this is no manifest: it has none of the keys that manifests have, such as "
                                + "'job' and 'inputs'",
                            remedy:
                                "name the file of a manifest; 'penumbra check FILE' shows what is wrong with a file "
                                + "of your own")
                    ], outcome: .badManifest))
    }

    @Test func `a text in another encoding is refused without any of it, whoever names it`() async throws {
        let path = "\(top)/other/latin.txt"
        try Data(Array("job: hunter".utf8) + [0xe9, 0x0a]).write(to: URL(filePath: path))
        let error = await #expect(throws: ManifestRefusal.self) {
            _ = try await checker().check(.file(path: path), name: nil, RunOptions())
        }
        #expect(error?.errors == [ManifestFault(message: "the manifest is not UTF-8 text")])
    }

    @Test func `a file of the service's folder is no manifest, also by a link`() async throws {
        try Data("job: night\n".utf8).write(to: URL(filePath: "\(top)/service/1.yaml"))
        symlink("../service/1.yaml", "\(top)/other/link.yaml")
        for path in ["\(top)/service/1.yaml", "\(top)/other/link.yaml"] {
            let error = await #expect(throws: ManifestRefusal.self) {
                _ = try await checker().check(.file(path: path), name: nil, RunOptions())
            }
            #expect(
                error?.errors.map(\.message) == [
                    "\(path): the manifest cannot be read: it lies in the service's own folder"
                ])
            #expect(error?.outcome == .missingInput)
        }
    }

    @Test func `what runs of tokens may open is kept from tokens`() {
        var places = ConfinedPlaces()
        places.programs = "/usr/libexec/penumbra"
        places.readable = ["/etc/penumbra/penumbra.yaml", "relative"]
        #expect(
            places.protectedPaths(with: ["/srv/service"]) == [
                "/srv/service", "/usr/libexec/penumbra", "/etc/penumbra/penumbra.yaml",
            ])
    }
}
