import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Pages of queries", .timeLimit(.minutes(1)))
struct QueryPagingTests {
  @Test(
    "Pages of any size add up to the whole result in its order, with nulls and equal values",
    arguments: [
      "Products?$filter=ID%20gt%203", "Products?$orderby=Rating", "Products?$orderby=Rating%20desc",
      "Products?$orderby=Price,Name%20desc", "Products?$orderby=Category/Name,Home/City%20desc", "Products?$top=17",
      "Products?$orderby=Active%20desc,Made&$top=23&$skip=4", "Products?$orderby=ID%20desc",
      "Products?$orderby=Friends/$count",
      // For the rows that the filter excludes, the products exceed 64 bits.
      "Products?$filter=Big%20lt%20100%20and%20Big%20gt%20-100&$orderby=(Stock%20mul%20Big)",
    ])
  func pages(_ url: String) async throws {
    var random = PrintedSeed(for: "query pages")
    let rig = try await QueryRig(QueryDataSet.random(&random, products: 40))
    let whole = try await rig.ids(url)
    #expect(!whole.isEmpty)
    for size in [1, 3, 7, 100] {
      // `$skip` is applied once: the next page's URL has none.
      let first = try await rig.pages(url, size: size)
      let pages = url.contains("$skip=") && size < 100 ? [first[0]] : first
      #expect(Array(pages.joined()) == (pages.count < first.count ? Array(whole.prefix(size)) : whole), "\(size)")
      #expect(pages.dropLast().allSatisfy { $0.count == size })
    }
  }

  @Test("A token of another query, a truncated one and an invented one are rejected")
  func tokens() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let plan = try rig.plan("Products?$orderby=Name", pageSize: 2)
    let page = try #require(plan.page)
    let token = SkipToken(order: page.order, delivered: 2, values: [.text("x"), .integer(3)])
    #expect(SkipToken(token.text) == token)
    #expect(throws: Never.self) { try rig.plan("Products?$orderby=Name&$skiptoken=" + token.text, pageSize: 2) }
    for url in [
      "Products?$orderby=Name%20desc&$skiptoken=" + token.text, "Categories?$orderby=Name&$skiptoken=" + token.text,
      "Products?$orderby=Name&$skiptoken=" + token.text.dropLast(4), "Products?$skiptoken=17",
      "Products?$skiptoken=%27a%27",
    ] {
      #expect(throws: OfflineODataError.self) { try rig.plan(url, pageSize: 2) }
    }
  }

  @Test("A token preserves values of all storage classes")
  func values() {
    let token = SkipToken(
      order: .max, delivered: 7,
      values: [.null, .integer(.min), .real(-0.5), .text("ü\u{0}'"), .text(""), .blob([0, 255]), .real(.infinity)])
    #expect(SkipToken(token.text) == token)
    #expect(
      token.text.utf8.allSatisfy {
        ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2D || $0 == 0x5F
      })
  }
}
