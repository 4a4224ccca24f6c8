import Catalogs
import FilterKit
import Foundation
import Geometry
import JobModel
import Raster
import Rendering

/// One kernel's time beside memcpy's.
struct RaceResult {
    let name: String
    let seconds: Double
    let copySeconds: Double
    let megapixels: Double

    /// Times that memcpy of the same bytes takes.
    var ratio: Double { seconds / copySeconds }

    var line: String {
        let columns = [
            name.padding(toLength: 34, withPad: " ", startingAt: 0), String(format: "%9.1f ms", seconds * 1000),
            String(format: "%8.1f MP/s", megapixels / seconds), String(format: "%8.1f × memcpy", ratio),
        ]
        return columns.joined(separator: "  ")
    }
}

/// Renders one picture of noise with several chains and copies it in between, so that both see the same machine.
struct Race {
    private let picture: AnyRaster
    private let copy: UnsafeMutableRawBufferPointer
    private static let rounds = 5

    private static let chains: [(name: String, filter: String, values: [String: ParameterValue])] = [
        ("gaussian radius 1", "gaussian", ["radius": .number(1)]),
        ("gaussian radius 5", "gaussian", ["radius": .number(5)]),
        ("gaussian radius 12", "gaussian", ["radius": .number(12)]),
        ("gaussian radius 12 linear light", "gaussian", ["radius": .number(12), "light": .word("linear")]),
        ("motion radius 40 samples 5", "motion", ["angle": .number(30)]),
        ("motion radius 40 continuous", "motion", ["angle": .number(30), "samples": .word("continuous")]),
    ]

    init(width: Int, height: Int) {
        var state: UInt64 = 1
        let samples = (0..<width * height * 3).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        picture = .u8(Raster(rect: rect, layout: .rgb, samples: samples))
        copy = .allocate(byteCount: samples.count, alignment: 64)
        copy.initializeMemory(as: UInt8.self, repeating: 1)
    }

    /// Best times of all rounds; memcpy's is the best of the whole race, so that one busy moment shifts no ratio.
    func results() throws -> [RaceResult] {
        let registry = FilterRegistry(BuiltInFilters.all)
        var copySeconds = Double.infinity
        let times = try Self.chains.map { entry in
            let chain = try Chain([FilterInvocation(filter: entry.filter, values: entry.values)], registry: registry)
            var best = Double.infinity
            for _ in 0..<Self.rounds {
                for _ in 0..<5 { copySeconds = min(copySeconds, seconds { copyPicture() }) }
                best = min(best, try seconds { _ = try chain.render(picture.rect, from: picture) })
            }
            return best
        }
        return zip(Self.chains, times).map { entry, best in
            RaceResult(
                name: entry.name, seconds: best, copySeconds: copySeconds,
                megapixels: Double(picture.rect.area) / 1e6)
        }
    }

    private func copyPicture() {
        picture.withBytes { bytes in bytes.withUnsafeBytes { copy.copyMemory(from: $0) } }
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        return try clock.measure(body) / .seconds(1)
    }
}
