import Geometry
import Kernels
import Testing

struct RoundedRectTests {
    private func total(_ shape: RoundedRect, _ area: PixelRect) -> Double {
        area.rows.reduce(0) { sum, y in area.columns.reduce(sum) { $0 + shape.coverage(x: $1, y: y) } }
    }

    @Test func `straight edges cover exact shares of a pixel`() {
        let shape = RoundedRect(left: 1.25, top: -2.5, width: 4, height: 3, cornerRadius: 0)
        #expect(shape.coverage(x: 1, y: -2) == 0.75)
        #expect(shape.coverage(x: 5, y: 0) == 0.25 * 0.5)
        #expect(shape.coverage(x: 2, y: -2) == 1)
        #expect(shape.coverage(x: 0, y: 0) == 0)
        #expect(total(shape, PixelRect(x: -5, y: -5, width: 20, height: 20)) == 12)
    }

    @Test func `a region inside one pixel covers its area`() {
        let shape = RoundedRect(left: 3.25, top: 3.5, width: 0.5, height: 0.25, cornerRadius: 0)
        #expect(shape.coverage(x: 3, y: 3) == 0.125)
    }

    @Test(arguments: [3.0, 7.5, 20])
    func `rounded corners take away what a circle leaves of a square`(radius: Double) {
        let shape = RoundedRect(left: 0.5, top: 0.25, width: 40, height: 41, cornerRadius: radius)
        let expected = 40 * 41 - (4 - Double.pi) * radius * radius
        #expect(abs(total(shape, PixelRect(x: -1, y: -1, width: 45, height: 45)) - expected) < 0.3)
    }

    @Test func `a disc is the same on all sides`() {
        let disc = RoundedRect(left: 0, top: 0, width: 31, height: 31, cornerRadius: 99)
        #expect(disc.cornerRadius == 15.5)
        for y in 0..<31 {
            for x in 0..<31 {
                #expect(disc.coverage(x: x, y: y) == disc.coverage(x: 30 - x, y: y))
                #expect(disc.coverage(x: x, y: y) == disc.coverage(x: x, y: 30 - y))
            }
        }
        #expect(disc.coverage(x: 0, y: 0) == 0)
        #expect(disc.coverage(x: 15, y: 15) == 1)
    }

    @Test func `bounds hold every covered pixel of an area, and no other column or row`() {
        let area = PixelRect(x: -10, y: -10, width: 30, height: 30)
        let shape = RoundedRect(left: 1.25, top: -2.5, width: 4, height: 300, cornerRadius: 1)
        #expect(shape.bounds(in: area) == PixelRect(x: 1, y: -3, width: 5, height: 23))
    }

    @Test(arguments: [(-1e18, 1e9), (1e18, 1e9), (100.0, 5.0), (2.0, 0.0)])
    func `a region elsewhere, or without size, covers nothing`(left: Double, width: Double) {
        let shape = RoundedRect(left: left, top: 0, width: width, height: 5, cornerRadius: 2)
        #expect(shape.bounds(in: PixelRect(x: 0, y: 0, width: 50, height: 50)).isEmpty)
        #expect(total(shape, PixelRect(x: 0, y: 0, width: 50, height: 50)) == 0)
    }

    @Test func `a region of any size covers the whole picture`() {
        let shape = RoundedRect(left: -1e9, top: -1e9, width: 2e9, height: 2e9, cornerRadius: 0)
        let area = PixelRect(x: 0, y: 0, width: 50, height: 50)
        #expect(shape.bounds(in: area) == area)
        #expect(total(shape, area) == 2500)
    }
}
