import Catalogs
import Raster

/// What shows through transparent pixels where a format has no alpha: red, green and blue, 0–255.
struct Background: Hashable, Sendable {
    let channels: [Int]

    /// White, where a channel is missing.
    init(_ channels: [Int]) {
        self.channels = (0..<3).map { $0 < channels.count ? max(0, min(255, channels[$0])) : 255 }
    }

    /// Black and white are the same colours whatever profile a picture has.
    var isInEverySpace: Bool { channels == [0, 0, 0] || channels == [255, 255, 255] }

    /// The sample behind each colour channel of a picture. Behind gray it is the colour's luma (Rec. 709 weights).
    func samples<Sample: OutputSample>(for layout: PixelLayout) -> [Sample] {
        switch layout {
        case .rgb, .rgba: channels.map(Sample.from255)
        case .gray, .grayAlpha:
            [Sample.from255((channels[0] * 2126 + channels[1] * 7152 + channels[2] * 722 + 5000) / 10000)]
        }
    }
}

extension Raster where Sample: OutputSample {
    /// Without its alpha channel, in front of a background.
    func flattened(onto background: Background) -> Raster {
        let behind: [Sample] = background.samples(for: layout)
        let channels = layout.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / channels * (channels - 1))
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let alpha = samples[pixel + channels - 1]
            for channel in behind.indices {
                result.append(Sample.blend(samples[pixel + channel], alpha, over: behind[channel]))
            }
        }
        return Raster(rect: rect, layout: layout.removingAlpha, samples: result)
    }

    /// Gray as RGB with three equal channels.
    func inColor() -> Raster {
        let channels = layout.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / channels * (channels + 2))
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            result.append(contentsOf: repeatElement(samples[pixel], count: 3))
            if layout.hasAlpha { result.append(samples[pixel + 1]) }
        }
        return Raster(rect: rect, layout: layout.hasAlpha ? .rgba : .rgb, samples: result)
    }

    func map<Result: PixelSample>(_ transform: (Sample) -> Result) -> Raster<Result> {
        Raster<Result>(rect: rect, layout: layout, samples: samples.map(transform))
    }
}
