import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

struct EdgeTests {
    @Test(arguments: [0..<1, 0..<5, -3..<4, 7..<9], Edge.allCases)
    func `every coordinate resolves as step by step`(range: Range<Int>, edge: Edge) {
        for coordinate in -40...40 {
            #expect(edge.resolve(coordinate, in: range) == trueEdge(coordinate, range, edge))
        }
    }

    @Test(arguments: Edge.allCases)
    func `nothing is seen of an empty picture`(edge: Edge) {
        #expect(edge.resolve(0, in: 0..<0) == nil)
    }

    @Test func `mirror shows the border's pixel twice`() {
        #expect((-3..<0).map { Edge.mirror.resolve($0, in: 0..<9) } == [2, 1, 0])
        #expect((9..<12).map { Edge.mirror.resolve($0, in: 0..<9) } == [8, 7, 6])
    }
}

struct AxisMapTests {
    private static let inputs = [0..<1, 0..<7, -4..<20, 0..<100]
    private static let needs = [0..<1, -3..<4, -30..<5, 5..<140, -150..<250, 60..<70, -9..<0, 100..<101]

    @Test(arguments: inputs, needs)
    func `each needed coordinate is found where its edge puts it`(input: Range<Int>, needed: Range<Int>) {
        for edge in Edge.allCases {
            let map = AxisMap(needed: needed, input: input, edge: edge)
            let gathered = map.intervals.flatMap { Array($0) }
            for (coordinate, position) in zip(needed, map.table.positions) {
                let found = position == AxisTable.transparent ? nil : gathered[Int(position)]
                #expect(found == trueEdge(coordinate, input, edge), "\(edge) at \(coordinate)")
            }
            #expect(map.count == gathered.count)
        }
    }

    @Test(arguments: inputs, needs)
    func `only what is needed is read, in few parts that do not touch`(input: Range<Int>, needed: Range<Int>) {
        for edge in Edge.allCases {
            let map = AxisMap(needed: needed, input: input, edge: edge)
            let seen = Set(needed.compactMap { trueEdge($0, input, edge) })
            #expect(Set(map.intervals.joined()) == seen)
            #expect(map.intervals.count <= (edge == .wrap ? 2 : 1))
            for (part, next) in zip(map.intervals, map.intervals.dropFirst()) {
                #expect(part.upperBound < next.lowerBound)
            }
        }
    }
}

struct SourceMapTests {
    private let input = PixelRect(x: -10, y: 5, width: 40, height: 30)

    @Test func `wrap needs four corners for a corner`() {
        let needed = PixelRect(x: -13, y: 2, width: 8, height: 9)
        let map = SourceMap(needed: needed, input: input, edge: .wrap)
        #expect(
            map.rects == [
                PixelRect(x: -10, y: 5, width: 5, height: 6), PixelRect(x: 27, y: 5, width: 3, height: 6),
                PixelRect(x: -10, y: 32, width: 5, height: 3), PixelRect(x: 27, y: 32, width: 3, height: 3),
            ])
    }

    @Test(arguments: Edge.allCases)
    func `gathered pixels are those that the edge shows`(edge: Edge) {
        let picture = Pattern.noise.picture(input, .grayAlpha, .u16)
        let truth = TruePixels(picture, light: .encoded)
        let area = input.expanded(by: Halo(horizontal: 55, vertical: 7))
        let source = SourceMap(needed: area, input: input, edge: edge).gather(layout: .grayAlpha, format: .u16) {
            picture.cropped(to: $0)
        }
        let seen = PixelReader(source, layout: .grayAlpha, light: .encoded).floats(in: area)
        for y in area.rows {
            for x in area.columns {
                for channel in 0..<2 {
                    let expected = truth.value(x, y, channel, edge) / 65535
                    #expect(abs(Double(seen.samples[seen.index(x: x, y: y) + channel]) - expected) < 1e-7)
                }
            }
        }
    }

    @Test func `what is wholly transparent reads nothing`() {
        let needed = PixelRect(x: 100, y: 100, width: 5, height: 5)
        #expect(SourceMap(needed: needed, input: input, edge: .transparent).rects.isEmpty)
    }
}
