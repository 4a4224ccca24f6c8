import Catalogs
import Filters
import Testing

struct SizingTests {
    private func sizing(
        _ width: Int, _ height: Int, _ wish: String, _ fit: Fit = .inside, enlarges: Bool = false
    ) throws -> Sizing {
        Sizing(.init(width, height), to: try #require(SizeWish(wish)), fit, enlarges: enlarges)
    }

    @Test(arguments: [
        ("320", 320, 240), ("320x", 320, 240), ("x240", 320, 240), ("320x100", 133, 100), ("1x", 1, 1),
        ("50%", 400, 300),
    ])
    func `inside keeps the proportions`(wish: String, width: Int, height: Int) throws {
        let sizing = try sizing(800, 600, wish)
        #expect(sizing.output == .init(width, height))
        #expect(sizing.scaled == sizing.output)
    }

    @Test func `nothing is enlarged unless it is asked for`() throws {
        #expect(try sizing(100, 50, "320").output == .init(100, 50))
        #expect(try sizing(100, 50, "320", enlarges: true).output == .init(320, 160))
        #expect(try sizing(100, 50, "320x20", .fill).output == .init(100, 20))
        #expect(try sizing(100, 50, "320x320", .cover).output == .init(100, 50))
    }

    @Test func `cover cuts from the middle, pad puts bars on both sides`() throws {
        let cover = try sizing(800, 600, "300x300", .cover)
        #expect(cover.scaled == .init(400, 300))
        #expect(cover.output == .init(300, 300))
        #expect(cover.shift == (50, 0))
        let pad = try sizing(800, 600, "301x300", .pad)
        #expect(pad.scaled == .init(301, 226))
        #expect(pad.output == .init(301, 300))
        #expect(pad.shift == (0, -37))
        #expect(try sizing(800, 600, "30x200", .fill).output == .init(30, 200))
    }

    @Test func `a side is never nothing`() throws {
        #expect(try sizing(10_000, 3, "100").output == .init(100, 1))
    }

    @Test(arguments: ["", "0", "x", "12x0", "-3", "3x4x5", "1000001", "0%", "10001%", "0x1p3%", "1e1%", "3 x 4", "１２"])
    func `no other text is a size`(text: String) {
        #expect(SizeWish(text) == nil)
    }

    @Test(arguments: ["320", "320x", "x240", "320x240", "50%", "12.5%"])
    func `a size is written as it is read`(text: String) {
        #expect(SizeWish(text)?.description == text)
    }
}
