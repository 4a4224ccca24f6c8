package import JobModel

/// One input with its number in the job.
package struct PlannedFrame: Hashable, Sendable {
    /// The input's number in sorted order, from 1. `--only` and `--limit` do not change it.
    package let index: Int
    package let input: InputFile
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]
    /// The page of the file that this frame is, if every page is a frame.
    package let pages: PageChoice
    /// The settings that a list has for this file: an index of ``JobPlan/settings``. Nil if it has none.
    package let settings: Int?

    /// Another page of the same file, or another frame of the animation that is made of it.
    package func page(_ number: Int) -> PlannedFrame {
        let pages = pages.numbered(number)
        return PlannedFrame(index: index, input: input, formats: formats, pages: pages, settings: settings)
    }

    /// Counted from 0. A file that is read as a whole has page 0.
    package var page: Int { pages.number }
}

/// A file or folder that a frame would publish.
package struct PlannedOutput: Hashable, Sendable {
    /// The frame's input.
    package let input: String
    package let owner: Owner
    /// Absolute, as ``JobPlan/outputs(of:measures:)`` names it.
    package let path: String
    /// Nil for a file.
    package let folder: FolderFormat?
    /// The stamp of the file that is there now. Nil if none is.
    package let stamp: FileStamp?

    /// The frame that an output belongs to: its input's number in sorted order, and its page.
    package struct Owner: Hashable, Sendable {
        package let index: Int
        package let page: Int

        package init(_ frame: PlannedFrame) { (index, page) = (frame.index, frame.page) }
    }

    package init(frame: PlannedFrame, path: String, folder: FolderFormat? = nil, stamp: FileStamp?) {
        input = frame.input.path
        owner = Owner(frame)
        self.path = path
        self.folder = folder
        self.stamp = stamp
    }

    package var isFolder: Bool { folder != nil }
}
