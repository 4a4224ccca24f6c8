import Catalogs
import ImageFiles
import JobModel
import Testing

@Suite struct CatalogTests {
    @Test func `names and extensions are unique`() throws {
        let descriptors = try ImageFormats.descriptors()
        #expect(descriptors == ImageFormats.all.map(\.descriptor))  // Debian's libvips has all of them
        #expect(Set(descriptors.map(\.name)).count == descriptors.count)
        let extensions = descriptors.flatMap(\.extensions)
        #expect(Set(extensions).count == extensions.count)
    }

    @Test(arguments: ImageFormats.all.map(\.descriptor))
    func `an option has a fallback and a summary without a full stop`(descriptor: FormatDescriptor) {
        for option in descriptor.options {
            #expect(option.fallback != nil && !option.summary.isEmpty && !option.summary.hasSuffix("."))
        }
    }

    @Test(arguments: ImageFormats.all.map(\.descriptor))
    func `the fallbacks are as lossless as the catalog says`(descriptor: FormatDescriptor) throws {
        let format = try #require(ImageFormats.named(descriptor.name))
        #expect(format.isLossless(.rgb, options: FormatOptions([:], of: descriptor)) == descriptor.isLossless)
    }
}
