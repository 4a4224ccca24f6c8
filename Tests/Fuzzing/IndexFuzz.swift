@testable import Coordination
import FoundationEssentials
import JobModel
import JobStorage

/// Reads a `.penumbra-index`, whose lines decide which files a run replaces and removes.
@c(LLVMFuzzerTestOneInput)
public func fuzzIndex(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Data(Input(start, count).bytes)
    let contents = IndexContents(bytes, of: nil)
    for each in [contents, contents.settled(below: "/nowhere")] {
        for (path, output) in each.outputs {
            precondition(each.recipes.indices.contains(output.recipe), "the recipe of an output is known")
            precondition(each.jobs[path] != nil, "the job of an output is known")
            let record = output.record(in: "/out", recipe: RecipeID(index: output.recipe), encodings: each.encodings)
            let names = PathNames.all(in: record.path)
            precondition(record.path.utf8.starts(with: "/out/".utf8) && names.count > 1, "an output is in the folder")
            precondition(!names.contains("..") && !names.contains("."), "an output is below the folder")
            precondition(Double(record.width * record.height) >= 0, "the sizes can be multiplied")
        }
    }
    return 0
}
