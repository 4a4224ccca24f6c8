// Times the kernels against memcpy of the same bytes, in one run, and compares the ratios with thresholds.
//
//     penumbra-bench [THRESHOLDS.json] [--write]
//
// Exit code 1 when a ratio is more than 15 % above its threshold.

import Catalogs
import FilterKit
import Foundation
import Geometry
import JobModel
import Raster
import Rendering

do {
    let thresholds = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("--") }
    let results = try Race(width: 4000, height: 3000).results()
    for result in results { print(result.line) }
    if CommandLine.arguments.contains("--write"), let thresholds {
        try Thresholds(results).write(to: thresholds)
    } else if let thresholds {
        let misses = try Thresholds(reading: thresholds).misses(results)
        for miss in misses { print("REGRESSION \(miss)") }
        exit(misses.isEmpty ? 0 : 1)
    }
} catch {
    FileHandle.standardError.write(Data("penumbra-bench: \(error)\n".utf8))
    exit(2)
}
