import Foundation
import OData
import Synchronization

/// Texts that open very many levels.
enum FuzzDepth {
  struct Family: Sendable, CustomStringConvertible {
    let entry: FuzzEntry
    let opening: String
    /// What stands inside of it all.
    var middle = "a"
    var closing = ""
    var description: String { "\(entry.rawValue) \(opening)…" }

    func text(_ count: Int) -> String {
      String(repeating: opening, count: count) + middle + String(repeating: closing, count: count)
    }
  }

  static let families: [Family] = [
    Family(entry: .expression, opening: "(", closing: ")"),
    Family(entry: .expression, opening: "[", closing: "]"),
    Family(entry: .expression, opening: "{\"a\":", closing: "}"),
    Family(entry: .expression, opening: "A/any(a:", closing: ")"),
    Family(entry: .expression, opening: "A/all(a:", closing: ")"),
    Family(entry: .expression, opening: "not "),
    Family(entry: .expression, opening: "not(", closing: ")"),
    Family(entry: .expression, opening: "-"),
    Family(entry: .expression, opening: "- "),
    Family(entry: .expression, opening: "tolower(", closing: ")"),
    Family(entry: .expression, opening: "cast(", closing: ",Edm.String)"),
    Family(entry: .expression, opening: "isof(", closing: ",Edm.String)"),
    Family(entry: .expression, opening: "case(a:", closing: ")"),
    Family(entry: .expression, opening: "F(x=", closing: ")"),
    Family(entry: .expression, opening: "isdefined(A/$filter(", closing: "))"),
    Family(entry: .expression, opening: "A/$filter(", closing: ")"),
    Family(entry: .expression, opening: "A/$count($filter=", closing: ")"),
    Family(entry: .expression, opening: "$these/aggregate(", middle: "a", closing: " with sum)"),
    Family(entry: .expression, opening: "a add (", closing: ")"),
    Family(entry: .expression, opening: "a in (b in ", middle: "c", closing: ")"),
    Family(entry: .expression, opening: "a add "),
    Family(entry: .expression, opening: "a has "),
    Family(entry: .expression, opening: "a or b and c eq d lt e add f mul -(", closing: ")"),
    Family(entry: .expand, opening: "A($expand=", closing: ")"),
    Family(entry: .expand, opening: "A($levels=1;$filter=b;$expand=", closing: ")"),
    Family(entry: .select, opening: "A($select=", closing: ")"),
    Family(entry: .search, opening: "(", closing: ")"),
    Family(entry: .search, opening: "NOT "),
    Family(entry: .search, opening: "a OR NOT (b AND ", closing: ")"),
    Family(entry: .apply, opening: "concat(", middle: "identity", closing: ",identity)"),
    Family(entry: .apply, opening: "groupby((A),", middle: "identity", closing: ")"),
    Family(entry: .apply, opening: "nest(", middle: "identity", closing: " as a)"),
    Family(entry: .apply, opening: "addnested(A,", middle: "identity", closing: " as a)"),
    Family(entry: .apply, opening: "join(A as B,", middle: "identity", closing: ")"),
    Family(entry: .apply, opening: "ancestors($root/A,B,C,", middle: "identity", closing: ")"),
    Family(entry: .apply, opening: "traverse($root/A,B,C,preorder,", middle: "identity", closing: ")"),
    Family(entry: .contextFragment, opening: "A(", middle: "A", closing: ")"),
    Family(entry: .path, opening: "A/$filter(A/any(a:", middle: "a", closing: "))"),
  ]

  /// Openings of all families of an entry, in no order.
  static func mixture(seed: UInt64, count: Int) -> String {
    var random = FuzzRandom(seed: seed)
    let openings = families.filter { $0.entry == .expression }.map(\.opening)
    return random.several(count...count) { $0.pick(openings) }.joined()
  }

  /// Does something on a thread with a small stack.
  static func onSmallStack<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
    let result = Mutex<Value?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    // The box outlives the thread: this waits for it.
    let box = Box(result)
    let thread = Thread {
      let value = body()
      box.mutex.withLock { $0 = value }
      isDone.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    isDone.wait()
    return box.mutex.withLock { $0 }
  }

  private final class Box<Value: Sendable>: Sendable {
    let mutex: Mutex<Value?>
    init(_ mutex: consuming Mutex<Value?>) { self.mutex = mutex }
  }

  /// What is wrong with a family, on the stack at hand: very many levels are refused as too deep, a few are taken, and at the deepest that
  /// are taken all that can be done with a tree works.
  static func complaint(_ family: Family, levels: Int = 100_000) -> String? {
    let version = ODataVersion.v401
    for text in [family.text(levels), String(repeating: family.opening, count: levels)] {
      guard let error = family.entry.refusal(text, version) else { return "takes \(levels) levels" }
      guard case .tooDeep = error.problem else { return "refuses \(levels) levels otherwise: \(error.problem)" }
    }
    var deepest = 0
    for count in 1...120 {
      guard let error = family.entry.refusal(family.text(count), version) else {
        deepest = count
        continue
      }
      guard case .tooDeep = error.problem else { return "refuses \(count) levels otherwise: \(error)" }
      break
    }
    guard deepest >= 5 else { return "takes only \(deepest) levels" }
    // What prints takes stack of its own.
    let complaint = FuzzChecks.complaint(FuzzCase(entry: family.entry, version: version, text: family.text(deepest)))
    return complaint?.contains("nested") == true ? nil : complaint
  }
}
