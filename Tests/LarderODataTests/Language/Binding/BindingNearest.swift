@testable import LarderOData

/// The search for nearest names, to tests that import the module plainly.
enum BindingNearest {
  static func find(_ name: String, among names: [String]) -> String? { NearestName.find(name, among: names) }
}
