import LarderOData
import Testing

@testable import LarderOffline

@Suite("$apply: concat, rollup, join, and the options after them", .timeLimit(.minutes(1)))
struct ApplyCompositionTests {
  @Test(
    "concat keeps the structure of each row (§3.2.2)",
    arguments: [
      (
        "concat(topcount(2,Amount),aggregate(Amount with sum as Amount))&$select=ID,Amount",
        #"{"ID":3,"Amount":4},{"ID":4,"Amount":8},{"Amount":24}"#
      ),
      ("concat(filter(ID eq 8),filter(ID eq 1))&$select=ID", #"{"ID":8},{"ID":1}"#),
      (
        "concat(groupby((Customer/Country)),aggregate($count as N))",
        #"{"Customer":{"Country":"Netherlands"}},{"Customer":{"Country":"USA"}},{"N":8}"#
      ),
    ])
  func concats(_ apply: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result("Sales?$apply=" + apply) == expected)
  }

  @Test("rollup: one row for each group of each level, without the properties that are rolled up (§3.2.3.2)")
  func rollup() async throws {
    let rig = try await ApplyRig()
    let one = try await rig.result(
      "Sales?$apply=groupby((rollup(Customer/Country,Customer/Name)),aggregate(Amount with sum as Total))")
    let expected = #"""
      {"Customer":{"Country":"Netherlands","Name":"Sue"},"Total":5},
      {"Customer":{"Country":"USA","Name":"Joe"},"Total":7},{"Customer":{"Country":"USA","Name":"Sue"},"Total":12},
      {"Customer":{"Country":"Netherlands"},"Total":5},{"Customer":{"Country":"USA"},"Total":19}
      """#
    #expect(one == expected.replacing("\n", with: ""))
    // The same levels, by their name in the model.
    let named = try await rig.result(
      "Sales?$apply=groupby((rollup(CustomerHierarchy)),aggregate(Amount with sum as Total))")
    #expect(named == one)
    // Example 23: seven, five, six and four.
    let two = try await rig.result(
      "Sales?$apply=groupby((rollup(Customer/Country,Customer/Name),rollup(Product/Category/Name,Product/Name)),aggregate(Amount with sum as Total))"
    )
    #expect(two.components("\"Total\"") == 22)
    #expect(
      two.contains(#"{"Customer":{"Country":"USA"},"Product":{"Category":{"Name":"Food"}},"Total":14}"#), "\(two)")
  }

  @Test("rollup with $all also has the level of all instances, even if there are none")
  func rollupOfAll() async throws {
    let rig = try await ApplyRig()
    let all = try await rig.result(
      "Sales?$apply=groupby((rollup($all,Customer/Country)),aggregate(Amount with sum as Total))")
    #expect(
      all
        == #"{"Customer":{"Country":"Netherlands"},"Total":5},{"Customer":{"Country":"USA"},"Total":19},{"Total":24}"#)
    let none = try await rig.result(
      "Sales?$apply=filter(ID gt 100)/groupby((rollup($all,Customer/Country)),aggregate($count as N))")
    #expect(none == #"{"N":0}"#)
    let bare = try await rig.result("Sales?$apply=groupby((rollup($all,Customer/Country)))")
    #expect(bare == #"{"Customer":{"Country":"Netherlands"}},{"Customer":{"Country":"USA"}},{}"#)
  }

  @Test(
    "join and outerjoin (§3.5)",
    arguments: [
      (
        "Products?$apply=join(Sales as Sale)/groupby((Sale/Customer/Country,Name))",
        5
      ),
      ("Products?$apply=join(Sales as Sale)", 8), ("Products?$apply=outerjoin(Sales as Sale)", 9),
      ("Products?$apply=outerjoin(Sales as Sale,topcount(1,Amount))", 4),
      ("Products?$apply=join(Sales as Sale,topcount(1,Amount))/filter(Sale/Amount gt 3)", 2),
    ])
  func joins(_ url: String, _ rows: Int) async throws {
    let text = try await ApplyRig().result(url)
    #expect(text.components("\"Name\"") == rows, "\(text)")
  }

  @Test(
    "Options apply to the result of $apply",
    arguments: [
      ("&$filter=Total gt 5&$select=Total", #"{"Total":12},{"Total":8}"#),
      ("&$orderby=Total&$top=1", #"{"Product":{"Name":"Sugar"},"Total":4}"#),
      ("&$orderby=Product/Name desc&$skip=2", #"{"Product":{"Name":"Coffee"},"Total":12}"#),
      ("&$compute=Total div 8 as E&$select=E", #"{"E":1.5},{"E":1},{"E":0.5}"#),
    ])
  func options(_ options: String, _ expected: String) async throws {
    let apply = "Sales?$apply=groupby((Product/Name),aggregate(Amount with sum as Total))"
    #expect(try await ApplyRig().result(apply + options) == expected)
  }

  @Test("Steps start with the result of earlier steps")
  func chains() async throws {
    let rig = try await ApplyRig()
    let url =
      "Sales?$apply=groupby((Customer/Country,Product/Name),aggregate(Amount with sum as T))/groupby((Customer/Country),aggregate(T with max as M,$count as N))/filter(N gt 2)"
    #expect(try await rig.result(url) == #"{"Customer":{"Country":"USA"},"M":12,"N":3}"#)
    let count = try await rig.result("Sales?$apply=groupby((Product))/aggregate(Product/TaxRate with sum as R)")
    #expect(count == #"{"R":0.26}"#)
    let nested = try await rig.result(
      "Customers?$select=Name&$expand=Sales($apply=aggregate(Amount with sum as Total))")
    #expect(nested.contains(#"{"Name":"Joe","Sales":[{"Total":7}]}"#), "\(nested)")
  }

  @Test(
    "Properties that do not survive a step are rejected by name",
    arguments: [
      ("Products?$apply=addnested(Sales,top(1) as A)/aggregate(A/Amount with sum as S)", "'A'"),
      ("Products?$apply=concat(addnested(Sales,top(1) as A),identity)", "'A'"),
      (
        "Products?$apply=groupby((Color),ancestors($root/SalesOrganizations,SalesOrgHierarchy,ID,identity))",
        "ancestors"
      ),
      ("Sales?$apply=aggregate(Amount with N.median as M)", "N.median"),
      ("Products?$apply=groupby((Tags))", "Tags"),
    ])
  func rejections(_ url: String, _ name: String) async throws {
    let rig = try await ApplyRig()
    do {
      _ = try rig.plan(url)
      Issue.record("\(url) is not rejected")
    } catch let error as OfflineODataError {
      #expect(error.category == .notSupported)
      #expect(error.errorMessage.contains(name), "\(error)")
    }
  }
}

extension String {
  /// How often a text occurs.
  func components(_ part: String) -> Int { ranges(of: part).count }
}
