import CPenumbraPlugin
import Catalogs
import Filters
import Geometry
import Glibc
import Kernels
import PluginLoading
import Raster
import TestSupport

/// One filter, called in both ways.
struct OverheadRace {
    private let filter: any Filter
    private let function: @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32
    private let values: [Double]
    private let picture: AnyRaster
    private let area: PixelRect
    private let needed: PixelRect

    private static let sittings = 7
    private static let rounds = 40
    private static let extent = PixelRect(x: 0, y: 0, width: 2048, height: 2048)

    /// Nil when the filter does nothing with its fallbacks, or does not take the format as it is.
    init?(_ plugin: LoadedPlugin, _ format: SampleFormat) {
        guard let library = dlopen(plugin.path, RTLD_NOW), let symbol = dlsym(library, "penumbra_plugin_entry") else {
            return nil
        }
        let entry = unsafeBitCast(symbol, to: penumbra_plugin_entry_function.self)
        guard let description = entry(PENUMBRA_PLUGIN_ABI)?.pointee, let render = description.render,
            description.formats & format.flag != 0,
            let filter = Self.filter(plugin)
        else { return nil }
        self.filter = filter
        function = render
        values = Self.values(plugin)
        area = PixelRect(x: 512, y: 512, width: 512, height: 512)
        needed = filter.needed(for: area, in: Self.extent)
        picture = Pattern.noise.picture(needed, .rgb, format)
    }

    /// With values at which it does something.
    private static func filter(_ plugin: LoadedPlugin) -> (any Filter)? {
        guard let filter = try? plugin.entry.makeFilter(telling(plugin)), !filter.isIdentity else { return nil }
        return filter
    }

    /// Fallbacks, and for a filter that is an identity by them, numbers a tenth away from theirs.
    private static func telling(_ plugin: LoadedPlugin) -> [String: ParameterValue] {
        if let filter = try? plugin.entry.makeFilter([:]), !filter.isIdentity { return [:] }
        var values: [String: ParameterValue] = [:]
        for parameter in plugin.entry.descriptor.parameters {
            if case .number(let low, let high) = parameter.kind, case .number(let fallback) = parameter.fallback {
                values[parameter.name] = .number(min(high, fallback + (high - low) / 10))
            }
        }
        return values
    }

    private static func values(_ plugin: LoadedPlugin) -> [Double] {
        let given = telling(plugin)
        let hosts: Set<String> = ["edge", "extent", "light", "within"]
        return plugin.entry.descriptor.parameters.filter { !hosts.contains($0.name) }.map { parameter in
            switch (given[parameter.name] ?? parameter.fallback, parameter.kind) {
            case (.number(let value), _): value
            case (.integer(let value), _): Double(value)
            case (.boolean(let value), _): value ? 1 : 0
            case (.word(let word), .choice(let words)): Double(words.firstIndex(of: word) ?? 0)
            default: 0
            }
        }
    }

    /// What a tile costs in both ways.
    func run() -> Overhead {
        let sittings = (0..<Self.sittings).map { _ in sitting() }
        return sittings.sorted { $0.percent < $1.percent }[Self.sittings / 2]
    }

    /// The best time of each way, in turns and in the same memory.
    private func sitting() -> Overhead {
        var best = Overhead(direct: .infinity, hosted: .infinity)
        var input = AnyRaster(zeroed: needed, layout: picture.layout, format: picture.format)
        let cleared = AnyRaster(zeroed: area, layout: picture.layout, format: picture.format)
        var target = AnyRaster(zeroed: area, layout: picture.layout, format: picture.format)
        for _ in 0..<Self.rounds {
            for isHosted in [false, true] {
                input.paste(picture)
                target.paste(cleared)
                let source = KernelSource(input)
                let start = Self.processorTime()
                if isHosted { hosted(source, &target) } else { direct(source, &target) }
                let time = Self.processorTime() - start
                if isHosted { best.hosted = min(best.hosted, time) } else { best.direct = min(best.direct, time) }
            }
        }
        return best
    }

    /// Of this thread, in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func hosted(_ pixels: KernelSource, _ target: inout AnyRaster) {
        do { try filter.render(FilterSource(pixels: pixels, extent: Self.extent), into: &target) } catch {
            print(error)
        }
    }

    private func direct(_ pixels: KernelSource, _ target: inout AnyRaster) {
        switch pixels.raster {
        case .u8(let from): target.modifyU8 { direct(from, &$0) }
        case .u16(let from): target.modifyU16 { direct(from, &$0) }
        case .f32(let from): target.modifyF32 { direct(from, &$0) }
        }
    }

    private func direct<Sample: PixelSample>(_ from: Raster<Sample>, _ to: inout Raster<Sample>) {
        let bytes = MemoryLayout<Sample>.stride
        let rowBytes = (from.stride * bytes, to.stride * bytes)
        from.samples.withUnsafeBytes { from in
            to.samples.withUnsafeMutableBytes { to in
                values.withUnsafeBufferPointer { values in
                    var tile = penumbra_tile(
                        struct_size: UInt32(MemoryLayout<penumbra_tile>.size), format: Sample.format.flag, channels: 3,
                        has_alpha: 0, image: penumbra_rect(Self.extent),
                        source: penumbra_source(
                            data: from.baseAddress, row_bytes: Int64(rowBytes.0), rect: penumbra_rect(needed)),
                        target: penumbra_target(
                            data: to.baseAddress, row_bytes: Int64(rowBytes.1), rect: penumbra_rect(area)),
                        values: values.baseAddress, is_cancelled: { _ in 0 }, context: nil, error: nil,
                        error_capacity: 0, frame: 0)
                    _ = function(&tile)
                }
            }
        }
    }
}

extension SampleFormat {
    fileprivate var flag: penumbra_format {
        switch self {
        case .u8: penumbra_format(PENUMBRA_U8)
        case .u16: penumbra_format(PENUMBRA_U16)
        case .f32: penumbra_format(PENUMBRA_F32)
        }
    }
}

extension penumbra_rect {
    fileprivate init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}
