import Catalogs
import Geometry
import KernelCases
import Kernels
import Raster
import TestSupport
import Testing

/// Every level that this CPU has gives the bytes of the lowest.
struct CPULevelTests {
    static let rect = PixelRect(x: -3, y: 1, width: 211, height: 57)

    @Test(arguments: KernelFamily.all, SampleFormat.allCases)
    func `all levels give the same bytes`(family: KernelFamily, format: SampleFormat) {
        for layout in PixelLayout.allCases {
            for isOpaque in family.hasOpaquePath && layout.hasAlpha ? [false, true] : [false] {
                let source = NoisePicture(Self.rect, layout, format, isOpaque: isOpaque).source()
                for item in family.cases {
                    let results = CPULevel.supported.map { level in
                        var result = AnyRaster(zeroed: Self.rect, layout: layout, format: format)
                        item.render(level, source, &result)
                        return result
                    }
                    #expect(results.allSatisfy { $0.hasSameBytes(as: results[0]) }, "\(item.name), \(layout)")
                }
            }
        }
    }

    @Test func `the best level is taken unless another is asked for`() throws {
        #expect(try CPULevel.chosen(by: nil, of: [.v2, .v3, .v4]) == .v4)
        #expect(try CPULevel.chosen(by: "", of: [.v2, .v3]) == .v3)
        #expect(try CPULevel.chosen(by: "v2", of: [.v2, .v3, .v4]) == .v2)
        #expect(CPULevel.supported(x86Level: 4) == [.v2, .v3, .v4])
        #expect(CPULevel.supported(x86Level: 3) == [.v2, .v3])
        #expect(CPULevel.supported(x86Level: 1) == [])
        #expect(CPULevel.supported(x86Level: 0) == [.native])
    }

    @Test func `a CPU without any level is told so`() {
        #expect {
            try CPULevel.chosen(by: nil, of: [])
        } throws: {
            "\($0)" == "this CPU is too old: Penumbra needs x86-64-v2 (SSE4.2) or later"
        }
    }

    @Test(arguments: ["v4", "v5", "avx2", " v2"])
    func `a level that is not there is refused`(value: String) {
        #expect {
            try CPULevel.chosen(by: value, of: [.v2, .v3])
        } throws: {
            "\($0)" == "PENUMBRA_CPU: this CPU cannot run '\(value)'; it has v2, v3 — unset it to use the best"
        }
    }
}
