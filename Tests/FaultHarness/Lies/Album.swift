import Foundation

/// Pictures that are blurred in place, and put back.
struct Album {
    let folder: String
    /// The pictures' bytes as they were.
    let sharp: [String: Data]

    private static let radius = "4"

    init(_ stage: Stage) throws {
        folder = "\(stage.workspace.path)/album"
        try Folder.create(folder)
        let pictures = ["a", "b", "c", "d"].enumerated().map { index, stem in
            Picture(
                stem: stem, width: 90 + 7 * index, height: 60, channels: [1, 3, 4, 3][index], form: .png, number: 20)
        }
        sharp = Dictionary(uniqueKeysWithValues: pictures.map { ($0.fileName, $0.file) })
        for (name, data) in sharp { try data.write(to: URL(filePath: "\(folder)/\(name)")) }
    }

    /// All of it.
    var blur: [String] { ["blur", folder, "--radius", Self.radius] }

    func blur(_ name: String) -> [String] { ["blur", "\(folder)/\(name)", "--radius", Self.radius] }

    func contents(of name: String) -> Data? { FileManager.default.contents(atPath: "\(folder)/\(name)") }

    /// Of all pictures, as they are now.
    var contents: [String: Data] {
        sharp.keys.reduce(into: [:]) { result, name in result[name] = contents(of: name) }
    }
}

/// The store of originals lies: its records, its objects and its folders.
struct LyingOriginals: Injection {
    /// It is never blurred before the lies.
    private static let untouched = "d.png"

    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        let album = try Album(stage)
        for name in album.sharp.keys.sorted() { try stage.command(album.blur(name), [0]) }
        let blurred = album.contents
        guard stage.result.violations.isEmpty else { return }
        try stage.command(["unblur", "\(album.folder)/\(Self.untouched)"], [0])
        let store = "\(stage.workspace.stateFolder)/originals"
        let files = Folder.files(store).map { "\(store)/\($0)" }
        let whole = files.reduce(into: [String: Data]()) { $0[$1] = FileManager.default.contents(atPath: $1) }
        let struck = stage.strike(files + Folder.folders(store).map { "\(store)/\($0)" }, decoys)
        // Before any command: one that forgets a picture that is blurred is to blame.
        let kept = whole.filter { !Self.isStruck($0.key, struck) && !Self.isGivenUp($0.key, store) }
        let commands = [
            album.blur(Self.untouched), ["unblur", album.folder], ["unblur", "\(album.folder)/a.png"],
            ["unblur", album.folder, "--force"], ["is-blurred", album.folder], ["blur", "--list"],
        ]
        for arguments in commands.shuffled(using: &stage.random).prefix(2) {
            try askOfSharp(stage, album)
            try stage.command(arguments)
            stage.checkOrphans()
            stage.checkHarm(decoys)
            check(stage, album, blurred, kept)
        }
        guard stage.result.violations.isEmpty else { return }
        // A user who finds nonsense there removes it.
        try? FileManager.default.removeItem(atPath: store)
        stage.checkLeftovers()
    }

    /// Itself, or a folder that it is in.
    private static func isStruck(_ path: String, _ struck: Set<String>) -> Bool {
        struck.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// No record names it any more: so a user says that an original is not needed.
    private static func isGivenUp(_ path: String, _ store: String) -> Bool {
        let object = path.split(separator: "/").last ?? ""
        return !Folder.names("\(store)/records").contains { $0.hasSuffix(".\(object).json") }
    }

    private func askOfSharp(_ stage: Stage, _ album: Album) throws {
        guard album.contents(of: Self.untouched) == album.sharp[Self.untouched] else { return }
        let run = try stage.command(["is-blurred", "\(album.folder)/\(Self.untouched)"])
        if run.process.ending?.code == 0 {
            stage.blame(.originals, "album/\(Self.untouched) is sharp, and is said to be blurred")
        }
    }

    /// Every picture is sharp or blurred, and the original of a blurred one stays where it was.
    private func check(_ stage: Stage, _ album: Album, _ blurred: [String: Data], _ kept: [String: Data]) {
        for (name, sharp) in album.sharp.sorted(by: { $0.key < $1.key }) {
            let now = album.contents(of: name)
            if now == sharp { continue }
            guard now == blurred[name] else {
                stage.blame(.originals, "album/\(name) is neither sharp nor blurred")
                continue
            }
            for (path, data) in kept where data == sharp && FileManager.default.contents(atPath: path) != data {
                stage.blame(.originals, "the original of album/\(name) was changed or removed")
            }
        }
        for name in Folder.names(album.folder) where album.sharp[name] == nil {
            stage.blame(.strays, "album/\(name)")
        }
    }
}
