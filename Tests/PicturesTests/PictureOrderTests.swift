import Catalogs
import Geometry
import JobModel
import Pictures
import Testing
import WorkerProtocol

@Suite struct PictureOrderTests {
    private static let digest = Digest(high: 1, low: 2)

    @Test func `pictures that may differ have different keys`() throws {
        let sources: [PictureSource] = [
            .make(), .make("/srv/b.png"), .make(page: 1), .make(stamp: .make(inode: 2)), .make(stamp: .make(size: 1)),
            .make(stamp: .make(changed: 9)), .make(content: .digest(Self.digest)),
            .make(content: .digest(Digest(high: 2, low: 1))), .make(roots: []), .make(roots: ["/a"]),
            .make(roots: ["/a", "/b"]), .make(roots: ["/a\n2 /b"]), .make(roots: ["all"]),
        ]
        let crop = try PictureCrop(
            PixelRect(x: 0, y: 0, width: 8, height: 8), scale: 1, ofWidth: 100, height: 100)
        let reduced = try PictureCrop(
            PixelRect(x: 0, y: 0, width: 16, height: 16), scale: 2, ofWidth: 100, height: 100)
        let kinds: [PictureOrder.Kind] = [
            .digest, .facts, .thumbnail(width: 480), .thumbnail(width: 48), .crop(crop), .crop(reduced),
            .levels(try Self.levels()), .levels(try Self.levels(width: 4001)),
        ]
        let orders = sources.flatMap { source in kinds.map { PictureOrder(source, $0) } }
        #expect(Set(orders.map(\.key)).count == orders.count)
        #expect(Set(orders.map(\.name)).count == orders.count)
    }

    @Test func `a known content has one key, whatever its file is called`() {
        let one = PictureOrder(.make("/a.png", stamp: .make(inode: 1), content: .digest(Self.digest)), .facts)
        let other = PictureOrder(.make("/b.png", stamp: .make(inode: 2), content: .digest(Self.digest)), .facts)
        #expect(one.key == other.key)
    }

    @Test func `a part has one key, however it is read`() throws {
        let crop = try Self.crop(0, 0, 8, 8, scale: 2)
        let readings: [PictureOrder.Reading] = [.usual, .allPixels, .level("/l/2.tiff")]
        #expect(Set(readings.map { PictureOrder(.make(), .crop(crop), reading: $0).key }).count == 1)
    }

    private static func levels(width: Int = 4000, memory: Int = 1 << 30) throws -> PictureLevels {
        let facts = PictureFacts(width: width, height: 3000, format: "png", layout: "rgb", samples: "u8", frames: 1)
        return try #require(PictureLevels(of: facts, leastArea: 1, memory: memory))
    }

    // MARK: Crops

    private static func crop(_ x: Int, _ y: Int, _ width: Int, _ height: Int, scale: Int = 1) throws(PictureError)
        -> PictureCrop
    {
        try PictureCrop(
            PixelRect(x: x, y: y, width: width, height: height), scale: scale, ofWidth: 4001, height: 3000)
    }

    @Test func `a crop is cut at the edges of its picture`() throws {
        #expect(try Self.crop(10, 20, 64, 32).part == PixelRect(x: 10, y: 20, width: 64, height: 32))
        #expect(try Self.crop(3990, 2990, 64, 64).part == PixelRect(x: 3990, y: 2990, width: 11, height: 10))
    }

    @Test func `a reduced crop begins at a multiple of its scale, and shows the last pixels`() throws {
        let crop = try Self.crop(9, 16, 4096, 2048, scale: 8)
        #expect(crop.part == PixelRect(x: 1, y: 2, width: 500, height: 256))
        #expect((crop.width, crop.height) == (501, 375))
        #expect(try Self.crop(4000, 0, 1, 1, scale: 4).part == PixelRect(x: 1000, y: 0, width: 1, height: 1))
    }

    @Test func `neighbouring crops meet`() throws {
        let left = try Self.crop(0, 0, 1024, 512, scale: 4).part
        let right = try Self.crop(1024, 0, 1024, 512, scale: 4).part
        #expect(left.right == right.x)
    }

    @Test func `an answer has at most 1,024 pixels along a side`() throws {
        #expect(try Self.crop(0, 0, 1024, 1024).part.width == 1024)
        #expect(
            error { () throws(PictureError) in _ = try Self.crop(0, 0, 1025, 1) }?.message == """
                the answer would have 1025×1 pixels, and 1024 is the most along a side
                   = ask for several parts, or for a larger scale
                """)
        #expect(try Self.crop(0, 0, 1 << 20, 1 << 20, scale: 4).part.width == 1001)
    }

    @Test(arguments: [0, -1, 3, 12, 8192]) func `a scale is a power of two`(scale: Int) {
        #expect(
            error { () throws(PictureError) in _ = try Self.crop(0, 0, 1, 1, scale: scale) }?.message
                == "scale: \(scale) is none of 1, 2, 4, 8 and so on up to 4096")
    }

    @Test func `a crop outside of its picture is refused`() {
        #expect(
            error { () throws(PictureError) in _ = try Self.crop(4001, 0, 10, 10) }?.message == """
                the rectangle of 10×10 pixels at 4001,0 lies outside of the picture, which has 4001×3000
                   = x and y are those of its first pixel, from 0
                """)
    }

    // MARK: Tasks

    @Test func `a crop's task shows its part, pixel by pixel`() throws {
        for (x, width) in [(0, 1), (7, 64), (1000, 1023), (3993, 8)] {
            let crop = try Self.crop(x, 5, width, 9)
            guard
                case .preview(let task) = PictureOrder(.make(), .crop(crop)).task(
                    writing: "/w/p", scratch: "/w", memory: 1)
            else {
                Issue.record("a crop is a preview")
                return
            }
            // As the worker finds the first pixel from the middle.
            #expect(task.view.x.pixels(of: 4001) - Double(task.view.width) / 2 == Double(x))
            #expect(task.view.y.pixels(of: 3000) - Double(task.view.height) / 2 == 5)
            #expect(task.chains == [[]])
            #expect(task.input.color == .keep)
        }
    }

    @Test func `levels are outputs of one decoding, and each is reduced as a crop is`() throws {
        let order = PictureOrder(.make(page: 2), .levels(try Self.levels()))
        guard case .frame(let task) = order.task(writing: "/w/p", scratch: "/w", memory: 7) else {
            Issue.record("levels are outputs of a frame")
            return
        }
        #expect(task.input.path == "/srv/a.png" && task.input.pages == .page(2) && task.input.color == .keep)
        #expect(task.outputs.map(\.temporaryPath) == ["/w/1.tiff", "/w/2.tiff", "/w/4.tiff"])
        #expect(task.frameMemory == 7)
        for (scale, output) in zip([1, 2, 4], task.outputs) {
            let crop = try PictureCrop(
                PixelRect(x: 0, y: 0, width: 8, height: 8), scale: scale, ofWidth: 4000, height: 3000)
            let part = PictureOrder(.make(), .crop(crop), reading: .allPixels)
            guard case .preview(let task) = part.task(writing: "/w/p", scratch: "/w", memory: 7) else { return }
            #expect(task.chains == [output.spec.chain])
            #expect(task.input.shrink == 1)
        }
    }

    @Test func `a later step reads the picture that the first one has written`() throws {
        let levels = try Self.levels(memory: 13_000_000)
        #expect(levels.steps == [[1, 2], [4]])
        guard
            case .frame(let task) = PictureOrder(.make(page: 2), .levels(levels)).task(
                writing: "/w/p", scratch: "/w", memory: 7, step: 1)
        else {
            Issue.record("levels are outputs of a frame")
            return
        }
        #expect(task.input.path == "/w/1.tiff" && task.input.pages == .first)
        #expect(task.outputs.map(\.temporaryPath) == ["/w/4.tiff"])
    }

    @Test func `a part of a level is read from its file as it is`() throws {
        let order = PictureOrder(
            .make(bytes: [1], page: 2), .crop(try Self.crop(0, 0, 8, 8, scale: 2)), reading: .level("/l/2.tiff"))
        guard case .preview(let task) = order.task(writing: "/w/p", scratch: "/w", memory: 1) else { return }
        #expect(task.input == InputSpec(path: "/l/2.tiff", maxPixels: 2_000_000_000, color: .keep, scratchFolder: "/w"))
        #expect(task.chains == [[]])
    }

    @Test func `a page of a picture is asked for by its number`() {
        guard case .probe(let first) = PictureOrder(.make(), .facts).task(writing: "", scratch: "", memory: 1),
            case .probe(let third) = PictureOrder(.make(page: 2), .facts).task(writing: "", scratch: "", memory: 1)
        else {
            Issue.record("facts come from a probe")
            return
        }
        #expect(first.input.pages == .first)
        #expect(third.input.pages == .page(2))
    }

    @Test func `the answer to another question is no picture`() {
        let order = PictureOrder.make("/a", .facts)
        #expect(throws: PictureError.self) { _ = try order.content(of: .check) }
        #expect(throws: PictureError.missing("the picture is gone, or cannot be read")) {
            _ = try PictureOrder.make().content(of: .compare([nil]))
        }
    }
}
