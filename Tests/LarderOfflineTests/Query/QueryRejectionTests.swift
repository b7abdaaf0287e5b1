import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Unsupported queries", .timeLimit(.minutes(1)))
struct QueryRejectionTests {
  @Test(
    "An unsupported construct is rejected, and the error names it",
    arguments: [
      ("$all", "$all"), ("Products/$query", "$query"), ("Products?$deltatoken=1", "$deltatoken"),
      ("Categories(3)?$expand=Parent($levels=21)", "$levels=21"), ("Products?$expand=Photo", "a stream"),
      ("Products?$filter=@Core.Term eq 1", "@Core.Term"), ("Products(40)/Tags?$search=x", "$search"),
      ("Products/0", "Products"),
    ])
  func rejects(_ url: String, _ name: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    do {
      _ = try rig.plan(url.replacing(" ", with: "%20"))
      if url != "Products/0" { Issue.record("\(url) is not rejected") }
    } catch let error as OfflineODataError {
      #expect(error.category == .notSupported)
      #expect(error.errorMessage.contains(name), "\(error)")
    } catch let error as ODataBindingError {
      // Some cannot be bound.
      print("\(url): \(error)")
    }
  }

  @Test("Nesting deeper than SQLite's limit is rejected; long chains and lists are not")
  func depth() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let deep = String(repeating: "not%20(", count: 40) + "Stock%20lt%201" + String(repeating: ")", count: 40)
    #expect(throws: OfflineODataError.self) { try rig.plan("Products?$filter=" + deep) }
    let shallow = String(repeating: "not%20(", count: 14) + "Stock%20lt%202" + String(repeating: ")", count: 14)
    #expect(try await rig.ids("Products?$filter=" + shallow) == [4])
    let chain = Array(repeating: "Stock%20eq%202", count: 3000).joined(separator: "%20or%20")
    #expect(try await rig.ids("Products?$filter=" + chain) == [5])
    let list = (0..<2000).map(String.init).joined(separator: ",")
    #expect(try await rig.ids("Products?$filter=ID%20in%20(" + list + ")").count == 5)
  }

  @Test(
    "A nested query is executed or rejected before SQLite fails on it",
    arguments: [
      ("not (", "Stock lt 2", ")"), ("Stock gt 0 or (Rating lt 9 and (", "Stock lt 2", "))"),
      ("case(Stock gt 0:", "true", ",true:false)"), ("case((", "Stock lt 2", "):true,true:false)"),
      ("toupper(", "Name", ")"), ("concat('x',toupper(", "Name", "))"), ("round(", "Price", ")"), ("-(", "Stock", ")"),
      ("(Stock add ", "Stock", ")"), ("Friends/$count($filter=", "Stock lt 2", ") gt 0"),
      ("Category/Products/any(v:", "Stock lt 2", ")"), ("(", "Stock lt 2", ") eq true"),
      ("(", "Stock lt 2", ") ne null"),
      ("isof(Shop.Special) and (", "Stock lt 2", ")"), ("cast(", "Stock", ",Edm.Int64)"),
    ])
  func nesting(_ before: String, _ core: String, _ after: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    var succeeded = 0
    var rejected = 0
    for levels in 1...24 {
      var text = core
      for level in 0..<levels { text = before.replacing("v:", with: "v\(level):") + text + after }
      if !["not (", "Stock", "case", "Friends", "Category", "(", "isof"].contains(where: { before.hasPrefix($0) }) {
        text += " ne null"
      }
      if before.hasPrefix("(Stock") { text += " ne null" }
      let url = "Products?$filter=" + text.replacing(" ", with: "%20")
      guard let bound = try? QueryModel.bind(url) else { break }
      let writer = QueryWriter(plan: rig.plan, state: rig.state)
      do {
        let plan = try await onSmallStack { try writer.plan(bound) }
        _ = try await rig.result(plan)
        succeeded += 1
      } catch let error as OfflineODataError {
        #expect(error.category == .notSupported)
        rejected += 1
      }
    }
    print("\(before)…\(after): \(succeeded) levels succeeded, \(rejected) rejected")
    #expect(succeeded >= 5)
  }

  @Test("No text of a URL becomes SQL: quotes, semicolons and wildcards are values")
  func injection() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    for text in ["'' or 1=1 --", "x''; DROP TABLE e0_1; --", "%25", "a\"b", "\\"] {
      let quoted = text.replacing(" ", with: "%20").replacing("\"", with: "%22").replacing(";", with: "%3B")
      #expect(try await rig.ids("Products?$filter=Name%20eq%20'\(quoted)'").isEmpty)
      #expect(try await rig.ids("Products?$filter=contains(Name,'\(quoted)')").isEmpty)
      #expect(try await rig.ids("Products?$filter=startswith(Name,'\(quoted)')").isEmpty)
    }
    #expect(try await rig.ids("Products?$search=%22%25%22").isEmpty)
    let plan = try rig.plan("Products?$filter=Name%20eq%20'secret'%20and%20Stock%20gt%204711")
    #expect(!plan.sql.contains("secret"))
    #expect(!plan.sql.contains("4711"))
  }
}
