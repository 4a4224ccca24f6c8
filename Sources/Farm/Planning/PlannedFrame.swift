package import JobModel

/// One input with its place in the job.
package struct PlannedFrame: Hashable, Sendable {
    /// The input's place in sorted order, from 1; `--only` and `--limit` do not change it.
    package let index: Int
    package let input: InputFile
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]
    /// Which of the file's pages it is, where each is a frame.
    package let pages: PageChoice
    /// What a list sets for this file: an index of ``JobPlan/settings``; nil when it sets nothing.
    package let settings: Int?

    /// Another page of the same file, or another frame of the animation that is made of it.
    package func page(_ number: Int) -> PlannedFrame {
        let pages = pages.numbered(number)
        return PlannedFrame(index: index, input: input, formats: formats, pages: pages, settings: settings)
    }

    /// From 0; the first one of a file that is read as a whole.
    package var page: Int { pages.number }
}

/// A file or folder that a frame would publish.
package struct PlannedOutput: Hashable, Sendable {
    /// The frame's input.
    package let input: String
    package let owner: Owner
    /// Absolute, as ``JobPlan/outputs(of:measures:)`` names it.
    package let path: String
    package let isFolder: Bool
    /// Of what lies there now; nil when nothing does.
    package let stamp: FileStamp?

    /// Which frame an output belongs to: its input's place in sorted order, and its page.
    package struct Owner: Hashable, Sendable {
        package let index: Int
        package let page: Int

        package init(_ frame: PlannedFrame) { (index, page) = (frame.index, frame.page) }
    }

    package init(frame: PlannedFrame, path: String, isFolder: Bool = false, stamp: FileStamp?) {
        input = frame.input.path
        owner = Owner(frame)
        self.path = path
        self.isFolder = isFolder
        self.stamp = stamp
    }
}
