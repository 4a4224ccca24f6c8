import ExamplePictures
import Foundation
import Glibc
import Raster
import Testing

/// What `penumbra blur` does not touch, and pictures that are not what they seem.
@Suite(.serialized) struct BlurRefusalTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test(arguments: ["blur", "is-blurred"])
    func `a link to what is no file is named itself, and not its target`(command: String) async throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/link.png", withDestinationPath: "/dev/zero")
        let result = try await Program.run(command, "link.png", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors == "link.png: \(command == "blur" ? "is not a file" : "is not blurred")\n")
    }

    @Test func `a picture with several hard links is refused`() async throws {
        let before = try workspace.whole("photos/a.png")
        #expect(link("\(workspace.path)/photos/a.png", "\(workspace.path)/other.png") == 0)
        let result = try await penumbra("blur", "photos/a.png")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "photos/a.png: is one file with 2 names (hard links), and the others would still show the "
                + "original; blur a copy of it\n")
        #expect(try workspace.whole("photos/a.png") == before)
        #expect(workspace.originals == [])
    }

    @Test func `a picture that got hard links since is not undone under one name alone`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        #expect(link("\(workspace.path)/photos/a.png", "\(workspace.path)/other.png") == 0)
        let refused = try await penumbra("unblur", "photos/a.png")
        #expect(refused.code == 1)
        #expect(
            refused.errors
                == "photos/a.png: has 2 names now (hard links), and the others would still show the blurred picture; "
                + "--force puts the original back under this one\n")
        #expect(try await penumbra("unblur", "photos/a.png", "--force").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `a picture whose time cannot be given back is left as it is`() async throws {
        let path = "\(workspace.path)/photos/a.png"
        let before = try workspace.read("photos/a.png")
        var times = [timespec(tv_sec: 10_413_792_000, tv_nsec: 0), timespec(tv_sec: 10_413_792_000, tv_nsec: 0)]
        guard utimensat(AT_FDCWD, path, &times, 0) == 0 else { return }
        let result = try await penumbra("blur", "photos/a.png", "photos/b.png")
        #expect(result.code == 1)
        #expect(result.errors.contains("photos/a.png: "), "\(result.errors)")
        #expect(try workspace.read("photos/a.png") == before)
        #expect(try await penumbra("is-blurred", "photos/b.png").code == 0, "\(result.errors)")
    }

    @Test func `a hidden picture that is named beside its folder is blurred, and not told as passed by`() async throws {
        try workspace.copy("photos/a.png", to: "photos/.secret.png")
        let folder = try await penumbra("blur", "photos", "--radius", "8")
        #expect(folder.code == 1)
        #expect(folder.errors.contains("photos/.secret.png"), "\(folder.errors)")
        let named = try await penumbra("blur", "photos", "photos/.secret.png", "--radius", "8")
        #expect(named.code == 0)
        #expect(named.errors == "")
        #expect(try await penumbra("is-blurred", "photos/.secret.png").code == 0)
    }

    @Test func `a symbolic link stands for what it leads to`() async throws {
        #expect(symlink("photos/a.png", "\(workspace.path)/link.png") == 0)
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "link.png", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") != before)
        var found = stat()
        #expect(lstat("\(workspace.path)/link.png", &found) == 0 && found.st_mode & S_IFMT == S_IFLNK)
        #expect(try await penumbra("is-blurred", "link.png", "photos/a.png").code == 0)
        #expect(try await penumbra("unblur", "link.png").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `what cannot be written as what it is is refused`() async throws {
        try workspace.write("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", to: "v.svg")
        let svg = try await penumbra("blur", "v.svg")
        #expect(svg.code == 1)
        #expect(
            svg.errors
                == "v.svg: Penumbra reads svg, but does not write it; 'penumbra apply' writes another format\n")
        try workspace.write(Data(Self.twoPages), to: "two.tif")
        let pages = try await penumbra("blur", "two.tif")
        #expect(pages.code == 1)
        #expect(pages.errors == "two.tif: has 2 pages, and only the first would be left\n")
        #expect(try workspace.read("two.tif") == Data(Self.twoPages))
        try workspace.write(Data("Pf\n1 1\n-1.0\n".utf8) + Data([0, 0, 0, 63]), to: "f.pnm")
        #expect(
            try await penumbra("blur", "f.pnm").errors
                == "f.pnm: has samples of a kind (f32) that Penumbra does not write as ppm\n")
        try workspace.write("no picture", to: "n.png")
        let none = try await penumbra("blur", "n.png")
        #expect(none.code == 1)
        #expect(none.errors.hasPrefix("n.png: "))
        #expect(!none.errors.contains(workspace.path))
        let gone = try await penumbra("blur", "z.png", "photos/a.png")
        #expect(
            (gone.code, gone.errors) == (66, "z.png: no such file or folder; check its name, or mount its disk\n"))
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0, "the others are blurred")
    }

    /// A TIFF of two gray pictures of one pixel.
    private static let twoPages: [UInt8] = {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
        func long(_ value: Int) -> [UInt8] { word(value) + word(value >> 16) }
        func directory(at place: Int, next: Int) -> [UInt8] {
            let entries = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 1)]
            return word(entries.count)
                + entries.flatMap { word($0.0) + word(4) + long(1) + long($0.1) } + long(next)
        }
        let size = 2 + 9 * 12 + 4
        return [0x49, 0x49] + word(42) + long(10) + [100, 100]
            + directory(at: 10, next: 10 + size) + directory(at: 10 + size, next: 0)
    }()

    @Test func `a picture stays what it is, whatever its name says`() async throws {
        try workspace.copy("photos/a.png", to: "really.jpg")
        #expect(try await penumbra("blur", "really.jpg").code == 0)
        #expect(try workspace.read("really.jpg").starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test func `animations stay animated`() async throws {
        // Encoders join frames that are the same.
        let scene = Scene.eclipse(width: 40, height: 30)
        let night = AnyRaster(zeroed: scene.rect, layout: scene.layout, format: scene.format)
        let frames = [scene, night, scene]
        try PictureFiles.write(frames: frames, to: "\(workspace.path)/moving.gif")
        try PictureFiles.write(frames: frames, to: "\(workspace.path)/moving.webp")
        try PictureFiles.write(frames: frames, to: "\(workspace.path)/moving.apng")
        // Most animated PNG files are called as others are.
        try workspace.copy("moving.apng", to: "moving.png")
        let result = try await penumbra("blur", "moving.gif", "moving.webp", "moving.png", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try PictureFiles.readFrames("\(workspace.path)/moving.gif").count == 3)
        #expect(try PictureFiles.readFrames("\(workspace.path)/moving.webp").count == 3)
        #expect(try PictureFiles.readFrames("\(workspace.path)/moving.png").count == 3)
        #expect(try workspace.read("moving.png") != workspace.read("moving.apng"))
    }

    @Test func `names that are not UTF-8 are names`() async throws {
        let before = try workspace.read("photos/a.png")
        let folder = Array("\(workspace.path)/odd".utf8) + [0xFF]
        let path = (folder + Array("/f".utf8) + [0xE9] + Array(".png".utf8)).map { CChar(bitPattern: $0) } + [0]
        #expect(mkdir(folder.map { CChar(bitPattern: $0) } + [0], 0o755) == 0)
        func content() throws -> Data {
            let file = try #require(fopen(path, "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            return Data(bytes[..<fread(&bytes, 1, bytes.count, file)])
        }
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(Array(before), 1, before.count, file) == before.count)
        fclose(file)
        // By the folder above it, and by its own name.
        for name in [".", #"$'odd\xFF/f\xE9.png'"#] {
            func shell(_ command: String) async throws -> Program.Result {
                try await Program.run(
                    "/bin/bash", ["-c", "exec \(Program.penumbra) \(command) \(name)"], in: workspace)
            }
            let result = try await shell("blur --radius 2")
            #expect(result.code == 0, "\(result.errors)")
            #expect(try content() != before)
            #expect(try await shell("is-blurred --quiet").code == 0)
            #expect(try await penumbra("blur", "--list").output.contains("  odd%FF/f%E9.png\n"))
            #expect(try await shell("unblur").code == 0)
            #expect(try content() == before)
        }
        let beside = try await penumbra("blur", ".", "--radius", "10", "--keep", "beside")
        #expect(beside.code == 74)
        #expect(beside.errors.contains("the folder's name is not UTF-8: rename it, or use --keep state"))
        #expect(try content() == before)
    }

    @Test func `74: a folder in which nothing may be written`() async throws {
        let before = try workspace.whole("photos/a.png")
        chmod("\(workspace.path)/photos", 0o555)
        defer { chmod("\(workspace.path)/photos", 0o755) }
        let blur = [Program.penumbra, "blur", "photos/a.png"]
        let rights = ["--bounding-set=-dac_override,-dac_read_search"]
        let result =
            geteuid() == 0
            ? try await Program.run("/usr/bin/setpriv", rights + blur, in: workspace)
            : try await penumbra("blur", "photos/a.png")
        #expect(result.code == 74)
        #expect(
            result.errors
                == "photos/a.png: \(workspace.path)/photos: cannot write in the folder: Permission denied\n")
        #expect(try workspace.whole("photos/a.png") == before)
        #expect(workspace.originals == [])
    }

    @Test func `74: a full disk leaves the picture as it is`() async throws {
        try workspace.draw("large.png", width: 900, height: 700)
        let before = try workspace.whole("large.png")
        // A limit on file sizes is met like a full disk, and needs no rights.
        let result = try await Program.run(
            "/bin/bash", ["-c", "ulimit -f 8; exec \(Program.penumbra) blur large.png"], in: workspace)
        #expect(result.code == 74, "\(result.errors)")
        #expect(try workspace.whole("large.png") == before)
        #expect(try await penumbra("is-blurred", "large.png").code == 1)
        #expect(try await penumbra("blur", "large.png").code == 0)
        #expect(try await penumbra("unblur", "large.png").code == 0)
        #expect(try workspace.whole("large.png") == before)
        #expect(workspace.leftovers() == [])
    }

    @Test func `75: another blur goes on, or a run writes to the folder`() async throws {
        let before = try workspace.whole("photos/a.png")
        let folder = try await Program.run(
            "/usr/bin/flock", ["photos", Program.penumbra, "blur", "photos/a.png"], in: workspace)
        #expect(folder.code == 75)
        #expect(folder.errors == "photos/a.png: another run or command writes to its folder; left as it is\n")
        for command in ["blur", "unblur"] {
            let result = try await Program.run(
                "/usr/bin/flock", ["state/penumbra/originals/lock", Program.penumbra, command, "photos/a.png"],
                in: workspace)
            #expect(result.code == 75)
            #expect(
                result.errors
                    == "another 'penumbra blur' or 'penumbra unblur' is running; --lock-wait TIME, such as 5m, waits "
                    + "for it\n")
        }
        #expect(try workspace.whole("photos/a.png") == before)
    }

    @Test func `a damaged original is not put back`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        let blurred = try workspace.whole("photos/a.png")
        let original = "state/penumbra/originals/objects/\(try #require(workspace.originals.first))"
        try workspace.remove(original)
        try workspace.write("damaged", to: original)
        let result = try await penumbra("unblur", "photos/a.png")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "photos/a.png: its original, \(workspace.path)/\(original), is gone or damaged; nothing was changed\n"
        )
        #expect(try workspace.whole("photos/a.png") == blurred)
    }

    @Test func `another user's picture that would change hands is refused`() async throws {
        guard geteuid() == 0 else { return }
        try workspace.adorn("photos/a.png")
        let before = try workspace.whole("photos/a.png")
        let result = try await Program.run(
            "/usr/bin/setpriv", ["--bounding-set=-chown", Program.penumbra, "blur", "photos/a.png"], in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors
                == "photos/a.png: this user cannot keep its owner for the blurred picture; left as it is\n")
        #expect(try workspace.whole("photos/a.png") == before)
        #expect(workspace.originals == [])
    }
}
