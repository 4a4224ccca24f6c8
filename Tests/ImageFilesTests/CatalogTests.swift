import Catalogs
import ImageFiles
import JobModel
import TestSupport
import Testing

@Suite struct CatalogTests {
    @Test func `names and extensions are unique`() throws {
        let descriptors = try ImageFormats.descriptors()
        #expect(descriptors == ImageFormats.all.map(\.descriptor))  // Debian's libvips has all of them
        #expect(Set(descriptors.map(\.name)).count == descriptors.count)
        let extensions = descriptors.flatMap(\.extensions)
        #expect(Set(extensions).count == extensions.count)
    }

    @Test(arguments: ["gif", "jp2", "ppm", "dzi", "iiif"])
    func `where no profile can be stored colours become sRGB`(name: String) throws {
        let format = try #require(ImageFormats.named(name))
        let workspace = try Workspace()
        try workspace.save(
            Pictures.busy(), as: "png", to: "profiled",
            metadata: ImageMetadata(icc: Blob(ProfileBuilder.rgb(gamma: 1.8))))
        let header = try ImageDecoder(path: workspace.path("profiled"), limits: .roomy, color: .keep).header
        #expect(header.hasProfile)
        #expect(
            format.colorPolicy(for: header, asked: .keep, save: SaveOptions(metadata: .keep), output: header.layout)
                == .srgb)
    }

    @Test(
        arguments: ImageFormats.all.filter { $0.descriptor.canWrite && !$0.descriptor.isFolder && $0.video == nil }.map(
            \.title))
    func `the same picture gives the same bytes at any time`(title: String) throws {
        let format = try #require(ImageFormats.all.first { $0.title == title })
        let workspace = try Workspace()
        try workspace.save(Pictures.smooth(), as: format.descriptor.name, to: "once")
        try workspace.save(Pictures.smooth(), as: format.descriptor.name, to: "again")
        #expect(try workspace.bytes("once") == workspace.bytes("again"))
    }

    @Test(arguments: ImageFormats.all.map(\.descriptor))
    func `an option has a fallback or must be given, and a summary without a full stop`(descriptor: FormatDescriptor) {
        for option in descriptor.options {
            #expect((option.fallback == nil) == (option.requiredLike != nil))
            #expect(!option.summary.isEmpty && !option.summary.hasSuffix("."))
        }
    }

    @Test func `formats of folders have names of their files`() {
        let folders = ImageFormats.all.map(\.descriptor).filter(\.isFolder).map(\.name)
        #expect(folders == FolderFormat.allCases.map(\.rawValue))
    }

    @Test(arguments: ImageFormats.all.map(\.descriptor))
    func `the fallbacks are as lossless as the catalog says`(descriptor: FormatDescriptor) throws {
        let format = try #require(ImageFormats.named(descriptor.name))
        #expect(format.isLossless(.rgb, options: FormatOptions([:], of: descriptor)) == descriptor.isLossless)
    }
}
