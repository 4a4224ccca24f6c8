package import Catalogs
package import Geometry
package import JobModel

/// Renders a part of a picture with several chains, with the pixels that a job would give, and writes it as one file.
package struct PreviewTask: Hashable, Sendable, Codable {
    /// How the preview arranges the pictures before and after the chain.
    package enum Comparison: String, Hashable, Sendable, Codable, CaseIterable {
        /// The left half before, the right half after.
        case split
        /// Before on the left, after on the right.
        case side
        /// Before and after in turns, as an animation.
        case blink
    }

    /// The visible part: a part of the output around a point.
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

    /// Words above the panels.
    package struct Labels: Hashable, Sendable, Codable {
        /// One for each panel, in the order in which they are shown.
        package let texts: [String]
        /// The font that they are written in.
        package let font: PictureReference

        package init(texts: [String], font: PictureReference) {
            self.texts = texts
            self.font = font
        }
    }

    package var input: InputSpec
    /// One panel for each chain.
    package let chains: [[FilterInvocation]]
    /// The job's output, which decides the colours.
    package let output: OutputSpec
    /// The job's other outputs with their whole chains. The decoding of an input depends on all of them.
    package let others: [OutputSpec]
    package let view: View
    package let comparison: Comparison?
    package let labels: Labels?
    /// The format of the preview's own file.
    package let fileFormat: String
    /// The options of that format, by name. Those that are missing have their usual values.
    package let fileOptions: [String: ParameterValue]
    package let path: String
    /// In bytes. Larger parts of a picture are not decoded at once, but streamed.
    package let memory: Int

    package init(
        input: InputSpec, chains: [[FilterInvocation]], output: OutputSpec, others: [OutputSpec], view: View,
        comparison: Comparison?, labels: Labels? = nil,
        fileFormat: String, fileOptions: [String: ParameterValue] = [:], path: String, memory: Int
    ) {
        self.input = input
        self.chains = chains
        self.output = output
        self.others = others
        self.view = view
        self.comparison = comparison
        self.labels = labels
        self.fileFormat = fileFormat
        self.fileOptions = fileOptions
        self.path = path
        self.memory = memory
    }
}

package struct PreviewReceipt: Hashable, Sendable, Codable {
    /// The contents of one panel.
    package struct Panel: Hashable, Sendable, Codable {
        /// The part in pixels of the output, which begins at (0, 0).
        package let part: PixelRect
        /// The size of the whole output.
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
    /// The image of the preview's file.
    package let image: ImageFacts

    package init(panels: [Panel], image: ImageFacts) {
        self.panels = panels
        self.image = image
    }
}
