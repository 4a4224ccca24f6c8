import Catalogs
package import JobModel
package import Planning
import SafeFiles
package import Scheduling

/// The pictures that each input has of its own, such as `mask: masks/{stem}.png`.
package struct OwnPictures: Sendable {
    /// Messages show paths as they are seen from this folder.
    private let folder: String

    /// - Parameter chain: all filters of the job and of its outputs.
    /// - Throws: ``FarmError`` if a folder with pictures is not there. Then none of them can be found.
    package init(_ chain: [FilterInvocation], shownFrom folder: String) throws(FarmError) {
        self.folder = folder
        for template in Set(chain.flatMap(\.pictureTemplates.values)).sorted(by: { $0.path < $1.path })
        where !FileSystem.isFolder(template.fixedFolder) {
            throw FarmError(
                .missingInput,
                "\(PathText.shown(template.fixedFolder, from: folder)): the folder of the pictures of filters is not there\n"
                    + "   = look for a misspelt name, or mount its disk")
        }
    }

    /// The chain with the pictures of one input. Their digests are unknown.
    ///
    /// - Throws: the reason why a picture cannot be used.
    package func resolved(
        _ chain: [FilterInvocation], for input: InputFile
    ) throws(FrameFailure) -> [FilterInvocation] {
        var resolved: [FilterInvocation] = []
        for filter in chain {
            resolved.append(
                try filter.resolvingPictures { (parameter, template) throws(FrameFailure) in
                    try reference(template, of: parameter, for: input)
                })
        }
        return resolved
    }

    /// The filters and outputs with the pictures of one input.
    func resolved(_ variant: FrameVariant, for input: InputFile) throws(FrameFailure) -> FrameVariant {
        try variant.mapping { chain throws(FrameFailure) in try resolved(chain, for: input) }
    }

    private func reference(
        _ template: PictureTemplate, of parameter: String, for input: InputFile
    ) throws(FrameFailure) -> PictureReference {
        let path = template.path(for: input)
        guard let problem = FilterPictures.problem(at: path) else { return PictureReference(path: path, isOwn: true) }
        let (picture, shown) = (PathText.visible(input.path), PathText.shown(path, from: folder))
        guard problem == FilterPictures.missing else {
            throw Self.unreadable(path, reason: problem, for: input, shownFrom: folder)
        }
        let black = parameter == "mask" ? ", black if nothing is to be changed" : ""
        throw FrameFailure(.value, "\(picture): its '\(parameter)' is missing: there is no \(shown); add it\(black)")
    }

    /// The failure of an input if its own picture exists but cannot be read.
    static func unreadable(
        _ path: String, reason: String = "its bytes cannot be read", for input: InputFile, shownFrom folder: String
    ) -> FrameFailure {
        FrameFailure(
            .input,
            "\(PathText.visible(input.path)): \(PathText.shown(path, from: folder)) cannot be read: \(reason); name files that "
                + "this user may read")
    }

    /// Refuses inputs that are pictures of other inputs: a pattern has found the folder of the masks, too. An input may be its own mask.
    ///
    /// - Parameter frames: the inputs, with the pictures of each.
    /// - Returns: by the index of the input.
    static func pictureInputs(_ frames: [(input: InputFile, pictures: [String])]) -> [Int: FrameFailure] {
        var owners: [PathKey: InputFile] = [:]
        for (input, pictures) in frames {
            for picture in pictures where PathKey(picture) != PathKey(input.path) {
                owners[PathKey(picture)] = owners[PathKey(picture)] ?? input
            }
        }
        var failures: [Int: FrameFailure] = [:]
        for (index, frame) in frames.enumerated() {
            guard let owner = owners[PathKey(frame.input.path)] else { continue }
            failures[index] = FrameFailure(
                .value,
                "\(PathText.visible(frame.input.path)): filters use it for \(PathText.visible(owner.path)), too; leave it out by "
                    + "'exclude'")
        }
        return failures
    }
}
