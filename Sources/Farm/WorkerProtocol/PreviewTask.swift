package import Catalogs
package import Geometry
package import JobModel

/// Renders a part of what chains make of a picture, with the pixels that a job would give, and writes it as one file.
package struct PreviewTask: Hashable, Sendable, Codable {
    /// How what comes before the chain stands beside what comes after it.
    package enum Comparison: String, Hashable, Sendable, Codable, CaseIterable {
        /// The left half before, the right half after.
        case split
        /// Before, and to its right after.
        case side
        /// Before and after by turns: an animation.
        case blink
    }

    /// What is looked at: a part of the output around a point.
    package struct View: Hashable, Sendable, Codable {
        package let x: Length
        package let y: Length
        package let width: Int
        package let height: Int

        package init(x: Length, y: Length, width: Int, height: Int) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    package var input: InputSpec
    /// One panel for each.
    package let chains: [[FilterInvocation]]
    /// How the job would write its output, which decides the colours.
    package let output: OutputSpec
    /// The job's other outputs, with their whole chains: how an input is decoded depends on all of them.
    package let others: [OutputSpec]
    package let view: View
    package let comparison: Comparison?
    /// Of the preview's own file.
    package let fileFormat: String
    package let path: String
    /// Larger parts of a picture are not decoded at once but streamed, in bytes.
    package let memory: Int

    package init(
        input: InputSpec, chains: [[FilterInvocation]], output: OutputSpec, others: [OutputSpec], view: View,
        comparison: Comparison?,
        fileFormat: String, path: String, memory: Int
    ) {
        self.input = input
        self.chains = chains
        self.output = output
        self.others = others
        self.view = view
        self.comparison = comparison
        self.fileFormat = fileFormat
        self.path = path
        self.memory = memory
    }
}

package struct PreviewReceipt: Hashable, Sendable, Codable {
    /// What one panel shows.
    package struct Panel: Hashable, Sendable, Codable {
        /// The part, in pixels of the output, which begins at (0, 0).
        package let part: PixelRect
        /// Of the whole output.
        package let width: Int
        package let height: Int

        package init(part: PixelRect, width: Int, height: Int) {
            self.part = part
            self.width = width
            self.height = height
        }
    }

    /// One for each chain.
    package let panels: [Panel]
    /// Of the preview's file.
    package let image: ImageFacts

    package init(panels: [Panel], image: ImageFacts) {
        self.panels = panels
        self.image = image
    }
}
