import Catalogs
import Engines
import ExamplePictures
import Foundation
import Geometry
import Glibc
import JobModel
import Pictures
import Raster
import SafeFiles
import TestSupport
import Testing
import WorkerProtocol

/// Levels that real worker processes make of real pictures. All pictures count as large here.
@Suite struct LargePictureTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // As programs that run the farm do: a worker that ends is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    private func pictures(_ name: String, mostBytes: Int = LevelStore.mostBytes, memory: Int = 64 << 20) throws
        -> PagePictures
    {
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let command = WorkerCommand(
            executable: program.deletingLastPathComponent().appending(path: "penumbra-worker").path,
            environment: [:])
        let setup = PictureMaker.Setup(folder: folder.file(name), memory: memory) { _ in
            LocalEngine(command: command)
        }
        return PagePictures(setup, leastArea: 1, mostBytes: mostBytes)
    }

    /// Runs both while the body runs.
    private func run(_ all: [PagePictures], _ body: () async throws -> Void) async throws {
        let running = all.map { pictures in Task { await pictures.run() } }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        for task in running { task.cancel() }
        for task in running { await task.value }
        try result.get()
    }

    // MARK: Pictures

    enum Kind: String, CaseIterable, Sendable {
        case png, webp, gray, deep, profile, jpeg, turned, tiff
    }

    /// Odd sizes: the last parts are smaller at each scale.
    private static let (width, height) = (2307, 331)

    private func draw(_ kind: Kind) throws -> PictureSource {
        let scene = Scene.eclipse(width: Self.width, height: Self.height)
        func path(_ ending: String) -> String { folder.file("\(kind).\(ending)") }
        func write(
            _ picture: AnyRaster, _ ending: String, options: [String: ParameterValue] = [:], profile: [UInt8]? = nil
        ) throws -> String {
            try PictureFiles.write(picture, to: path(ending), options: options, profile: profile)
            return path(ending)
        }
        let written =
            switch kind {
            case .png: try write(scene, "png")
            case .webp: try write(Self.deep(scene, .u8), "webp", options: ["lossless": .boolean(true)])
            case .gray: try write(Self.gray(scene), "png")
            case .deep: try write(Self.deep(scene, .u16), "png")
            case .profile: try write(scene, "png", profile: ProfileBuilder.rgb(gamma: 1.8))
            case .jpeg: try write(scene, "jpg", profile: ProfileBuilder.rgb(gamma: 1.8))
            case .turned: try turned(write(scene, "jpg"))
            case .tiff: try write(scene, "tiff")
            }
        return try .file(written)
    }

    /// With alpha, which differs from pixel to pixel.
    private static func deep(_ scene: AnyRaster, _ format: SampleFormat) -> AnyRaster {
        guard case .u8(let raster) = scene else { return scene }
        var samples: [UInt8] = []
        samples.reserveCapacity(raster.samples.count / 3 * 4)
        for pixel in stride(from: 0, to: raster.samples.count, by: 3) {
            samples += raster.samples[pixel..<pixel + 3]
            samples.append(UInt8(truncatingIfNeeded: pixel / 7))
        }
        guard format == .u16 else { return .u8(Raster(rect: raster.rect, layout: .rgba, samples: samples)) }
        let deep = samples.enumerated().map { index, sample in
            UInt16(sample) * 257 ^ UInt16(truncatingIfNeeded: index % 200)
        }
        return .u16(Raster(rect: raster.rect, layout: .rgba, samples: deep))
    }

    private static func gray(_ scene: AnyRaster) -> AnyRaster {
        guard case .u8(let raster) = scene else { return scene }
        let samples = stride(from: 1, to: raster.samples.count, by: 3).map { raster.samples[$0] }
        return .u8(Raster(rect: raster.rect, layout: .gray, samples: samples))
    }

    /// Says in its EXIF that its rows are columns.
    private func turned(_ path: String) throws -> String {
        var data = try Data(contentsOf: URL(filePath: path))
        let directory: [UInt8] = [
            0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
        ]
        let segment = Array("Exif\0\0".utf8) + directory
        data.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment, at: 2)
        try data.write(to: URL(filePath: path))
        return path
    }

    private func read(_ bytes: [UInt8], as name: String) throws -> (AnyRaster, profile: [UInt8]?) {
        try Data(bytes).write(to: URL(filePath: folder.file(name)))
        return (try PictureFiles.read(folder.file(name)), try PictureFiles.profile(of: folder.file(name)))
    }

    // MARK: Pixels

    @Test(arguments: Kind.allCases)
    func `parts of levels have the pixels and the colours of parts that are made of the picture`(
        kind: Kind
    ) async throws {
        let source = try draw(kind)
        // Without room there are no levels.
        let (levels, direct) = (try pictures("levels"), try pictures("direct", mostBytes: 0))
        try await run([levels, direct]) {
            let facts = try await levels.parts.facts(of: source, for: .someone)
            #expect(facts.width == (kind == .turned ? Self.height : Self.width))
            let scales = try #require(PictureLevels(of: facts, leastArea: 1, memory: 1 << 30)).scales
            #expect(scales == [1, 2, 4])
            for scale in scales {
                let (right, bottom) = (facts.width - 100, facts.height - 60)
                for (x, y) in [(0, 0), (right, 0), (0, bottom), (right, bottom), (117, 255)] {
                    let rect = PixelRect(x: x, y: y, width: 300, height: 301)
                    let crop = try PictureCrop(rect, scale: scale, ofWidth: facts.width, height: facts.height)
                    let order = PictureOrder(source, .crop(crop))
                    let expected = try read(
                        try await part(order, facts, of: direct), as: "expected.png")
                    let found = try read(try await part(order, facts, of: levels), as: "found.png")
                    #expect(found.0 == expected.0, "\(scale) \(rect)")
                    #expect(found.profile == expected.profile)
                    #expect(found.0.rect.width == crop.part.width && found.0.rect.height == crop.part.height)
                }
            }
            #expect(FileSystem.files(below: folder.file("levels/large")).contains { $0.hasSuffix("/1.tiff") })
            #expect(!FileSystem.files(below: folder.file("direct/large")).contains { $0.hasSuffix(".tiff") })
        }
    }

    @Test func `sizes that a worker makes one after the other have the same pixels`() async throws {
        let source = try draw(.profile)
        let (levels, direct) = (try pictures("levels", memory: 3_750_000), try pictures("direct", mostBytes: 0))
        try await run([levels, direct]) {
            let facts = try await levels.parts.facts(of: source, for: .someone)
            #expect(PictureLevels(of: facts, leastArea: 1, memory: 7_500_000)?.steps == [[1, 2], [4]])
            for scale in [1, 2, 4] {
                let crop = try PictureCrop(
                    PixelRect(x: 900, y: 0, width: 1000, height: 331), scale: scale, ofWidth: facts.width,
                    height: facts.height)
                let order = PictureOrder(source, .crop(crop))
                let expected = try read(
                    try await part(order, facts, of: direct), as: "expected.png")
                let found = try read(try await part(order, facts, of: levels), as: "found.png")
                #expect(found.0 == expected.0, "\(scale)")
                #expect(found.profile == expected.profile)
            }
            #expect(FileSystem.files(below: folder.file("levels/large")).contains { $0.hasSuffix("/4.tiff") })
        }
    }

    @Test func `exact pixels of levels are those of the file`() async throws {
        let source = try draw(.deep)
        let whole = try PictureFiles.read(source.path)
        let levels = try pictures("levels")
        try await run([levels]) {
            let facts = try await levels.parts.facts(of: source, for: .someone)
            let rect = PixelRect(x: 1300, y: 30, width: 1007, height: 301)
            let crop = try PictureCrop(rect, scale: 1, ofWidth: Self.width, height: Self.height)
            let bytes = try await part(PictureOrder(source, .crop(crop)), facts, of: levels)
            #expect(try read(bytes, as: "found.png").0 == whole.cropped(to: rect).translated(x: -rect.x, y: -rect.y))
        }
    }

    /// As long as the levels are being made, the answer is that they are. On a busy machine, so it is for a moment where there is no room for
    /// them.
    private func part(_ order: PictureOrder, _ facts: PictureFacts, of pictures: PagePictures) async throws -> [UInt8] {
        while true {
            do throws(PictureError) {
                return try await pictures.bytes(of: order, whole: facts, for: .someone)
            } catch {
                guard case .preparing = error else { throw error }
            }
        }
    }

    @Test func `a picture that is cut off has no levels, and says what is wrong with it`() async throws {
        let source = try draw(.png)
        let data = try Data(contentsOf: URL(filePath: source.path))
        let path = folder.file("cut.png")
        try data.prefix(data.count / 2).write(to: URL(filePath: path))
        let cut = try PictureSource.file(path)
        let levels = try pictures("levels")
        try await run([levels]) {
            let facts = try await levels.parts.facts(of: cut, for: .someone)
            let crop = try PictureCrop(
                PixelRect(x: 0, y: facts.height - 9, width: 9, height: 9), scale: 1, ofWidth: facts.width,
                height: facts.height)
            let error = await #expect(throws: PictureError.self) {
                _ = try await part(PictureOrder(cut, .crop(crop)), facts, of: levels)
            }
            guard case .broken(let message) = error else {
                Issue.record("it is broken, and not: \(String(describing: error))")
                return
            }
            #expect(message.hasPrefix(path))
            #expect(!FileSystem.files(below: folder.file("levels/large")).contains { $0.hasSuffix(".tiff") })
        }
    }
}
