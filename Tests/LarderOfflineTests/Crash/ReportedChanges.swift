import Foundation
import Testing

@testable import LarderCrashRig

/// What processes have said of the changes that they made: each by its mark, `u3-4` the fourth of the third process.
struct ReportedChanges {
  /// A change, as it was said before it was made.
  struct ReportedChange: Hashable {
    let mark: String
    /// The entity that it is of; `-` where it makes one.
    let place: String
    let round: Int
    let number: Int
    var isUpdate: Bool { mark.hasPrefix("u") }
    var isDeletion: Bool { mark.hasPrefix("d") }

    init?(_ mark: Substring, _ place: String) {
      let numbers = mark.dropFirst().split(separator: "-")
      guard numbers.count == 2, let round = Int(numbers[0]), let number = Int(numbers[1]) else { return nil }
      (self.mark, self.place, self.round, self.number) = (String(mark), place, round, number)
    }

    func isBefore(_ other: ReportedChange) -> Bool { (round, number) < (other.round, other.number) }
  }

  private(set) var all: [ReportedChange] = []
  private(set) var acknowledged: Set<String> = []
  /// The marks of creations whose entities processes began to delete.
  private(set) var removed: Set<String> = []
  /// What uploads said at their ends: sent, failed, left.
  private(set) var reports: [[Int]] = []
  private(set) var cuts: [String] = []

  /// Takes the lines of a process.
  mutating func take(_ lines: [String]) {
    for line in lines {
      let words = line.split(separator: " ")
      switch words.first {
      case "making":
        all += words.dropFirst().dropLast().compactMap { ReportedChange($0, words.last.map(String.init) ?? "") }
      case "made": acknowledged.formUnion(words.dropFirst().dropLast().map(String.init))
      case "removing": removed.formUnion(words.dropFirst().map(String.init))
      case "uploaded": reports.append(words.dropFirst().compactMap { Int($0) })
      case "cut": cuts.append(line)
      default: break
      }
    }
  }

  func isAcknowledged(_ reported: ReportedChange) -> Bool { acknowledged.contains(reported.mark) }

  /// The marks that an order may have whose updates are these: the last that was acknowledged, and those that came behind
  /// it and may have been made.
  func possible(_ updates: [ReportedChange]) -> Set<String> {
    let sorted = updates.sorted { $0.isBefore($1) }
    guard let last = sorted.lastIndex(where: isAcknowledged) else { return [] }
    return Set(sorted[last...].map(\.mark))
  }
}
