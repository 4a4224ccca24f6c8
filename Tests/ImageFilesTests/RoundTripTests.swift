import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

@Suite struct RoundTripTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a lossless format gives back what the conversion announced`(layout: PixelLayout, format: SampleFormat) throws
    {
        let picture = Pictures.busy(layout: layout, format: format)
        for fileFormat in ImageFormats.all where fileFormat.descriptor.canWrite && fileFormat.descriptor.canRead {
            let name = fileFormat.descriptor.name
            let canChoose = fileFormat.descriptor.options.contains { $0.name == "lossless" }
            let save = SaveOptions(values: canChoose ? ["lossless": .boolean(true)] : [:])
            let options = FormatOptions(save.values, of: fileFormat.descriptor)
            guard fileFormat.isLossless(layout, options: options) else { continue }
            let conversion = OutputConversion(from: layout, format, to: fileFormat, save: save)
            try workspace.save(picture, as: name, to: "picture", save: save)
            let decoded = try workspace.load("picture")
            let isEqual = decoded.raster == conversion.convert(picture)
            #expect(isEqual, "\(name)")
            #expect(decoded.header.formatName == name)
        }
    }

    @Test func `a format that drops the alpha of opaque pictures says so`() throws {
        let samples = (0..<800).map { (index: Int) -> UInt8 in index % 4 == 3 ? 255 : UInt8(index % 251) }
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 20, height: 10), layout: .rgba, samples: samples))
        for fileFormat in ImageFormats.all
        where fileFormat.descriptor.canWrite && fileFormat.descriptor.canRead && fileFormat.descriptor.holdsAlpha
            && fileFormat.keepsLayout
        {
            let name = fileFormat.descriptor.name
            try workspace.save(picture, as: name, to: "picture")
            let layout = try workspace.load("picture").header.layout
            #expect(layout == (fileFormat.dropsOpaqueAlpha ? .rgb : .rgba), "\(name)")
        }
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a format at high quality stays close`(layout: PixelLayout, format: SampleFormat) throws {
        let picture = Pictures.smooth(layout: layout, format: format)
        for fileFormat in ImageFormats.all
        where fileFormat.descriptor.canWrite && fileFormat.descriptor.canRead && fileFormat.keepsLayout {
            let name = fileFormat.descriptor.name
            let hasQuality = fileFormat.descriptor.options.contains { $0.name == "quality" }
            let save = SaveOptions(values: hasQuality ? ["quality": .integer(95)] : [:])
            let conversion = OutputConversion(from: layout, format, to: fileFormat, save: save)
            try workspace.save(picture, as: name, to: "picture", save: save)
            let decoded = try workspace.load("picture")
            let difference = decoded.raster.largestDifference(from: conversion.convert(picture))
            #expect(difference < 0.03, "\(name)")
        }
    }
}
