import Geometry
import Testing

struct PixelRectTests {
    private let rect = PixelRect(x: -2, y: 3, width: 5, height: 4)

    @Test func `sides and ranges agree`() {
        #expect(rect.columns == -2..<3)
        #expect(rect.rows == 3..<7)
        #expect(rect.right == 3)
        #expect(rect.bottom == 7)
        #expect(rect.area == 20)
        #expect(PixelRect(columns: -2..<3, rows: 3..<7) == rect)
        #expect("\(rect)" == "5×4 at -2,3")
    }

    @Test func `an intersection lies in both, and is empty where they only touch`() {
        let other = PixelRect(x: 0, y: 0, width: 9, height: 5)
        #expect(rect.intersection(other) == PixelRect(x: 0, y: 3, width: 3, height: 2))
        #expect(rect.intersection(PixelRect(x: 3, y: 3, width: 9, height: 9)).isEmpty)
    }

    @Test func `a union holds both, and an empty rectangle adds nothing`() {
        let other = PixelRect(x: 10, y: 0, width: 1, height: 1)
        #expect(rect.union(other) == PixelRect(x: -2, y: 0, width: 13, height: 7))
        #expect(rect.union(PixelRect(x: 99, y: 99, width: 0, height: 7)) == rect)
        #expect(PixelRect.empty.union(rect) == rect)
    }

    @Test func `every rectangle contains an empty one, wherever it lies`() {
        #expect(rect.contains(PixelRect(x: 99, y: 99, width: 0, height: 7)))
        #expect(rect.contains(rect))
        #expect(!rect.contains(rect.translated(x: 1, y: 0)))
        #expect(rect.contains(x: -2, y: 6))
        #expect(!rect.contains(x: 3, y: 3))
    }

    @Test func `expanding adds each side of a halo`() throws {
        let halo = try #require(Halo(left: 1, top: 2, right: 3, bottom: 4))
        #expect(rect.expanded(by: halo) == PixelRect(x: -3, y: 1, width: 9, height: 10))
    }
}

struct HaloTests {
    @Test func `a halo has no negative side`() {
        #expect(Halo(left: 0, top: 0, right: -1, bottom: 0) == nil)
        #expect(Halo(horizontal: -3, vertical: 2) == Halo(horizontal: 0, vertical: 2))
    }

    @Test func `halos add up side by side`() throws {
        let sum = try #require(Halo(left: 1, top: 2, right: 3, bottom: 4)) + Halo(horizontal: 10, vertical: 20)
        #expect(sum == Halo(left: 11, top: 22, right: 13, bottom: 24))
        #expect(sum.widest == 24)
        #expect(Halo.none.isEmpty)
        #expect(!sum.isEmpty)
    }
}
