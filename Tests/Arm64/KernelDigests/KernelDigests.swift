import Catalogs
import Geometry
import Glibc
import KernelCases
import Kernels
import Raster

/// Prints a digest for each case of ``KernelFamily``, for each format and layout. `Scripts/test-arm64` compares what two
/// processors print.
///
///     kernel-digests [FAMILY…]
@main struct KernelDigests {
    static let rect = PixelRect(x: -3, y: 1, width: 83, height: 37)

    static func main() {
        let wanted = CommandLine.arguments.dropFirst()
        let names = KernelFamily.all.map(\.name)
        if let unknown = wanted.first(where: { !names.contains($0) }) {
            let message =
                "kernel-digests: no family of kernels is called '\(unknown)'; they are \(names.joined(separator: ", "))\n"
            _ = Array(message.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
            exit(64)
        }
        for family in KernelFamily.all where wanted.isEmpty || wanted.contains(family.name) {
            for format in SampleFormat.allCases {
                for layout in PixelLayout.allCases { print(family, format, layout) }
            }
        }
    }

    static func print(_ family: KernelFamily, _ format: SampleFormat, _ layout: PixelLayout) {
        for isOpaque in family.hasOpaquePath && layout.hasAlpha ? [false, true] : [false] {
            let source = NoisePicture(rect, layout, format, isOpaque: isOpaque).source()
            for item in family.cases {
                var result = AnyRaster(zeroed: rect, layout: layout, format: format)
                item.render(.current, source, &result)
                Swift.print(
                    "\(item.name), \(format), \(layout)\(isOpaque ? ", opaque" : ""): \(String(digest(of: result), radix: 16))"
                )
            }
        }
    }

    /// FNV-1a with 64 bits (Fowler, Noll and Vo).
    static func digest(of raster: AnyRaster) -> UInt64 {
        raster.withBytes { bytes in
            var digest: UInt64 = 0xCBF2_9CE4_8422_2325
            for index in 0..<bytes.byteCount {
                digest ^= UInt64(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
                digest &*= 0x100_0000_01B3
            }
            return digest
        }
    }
}
