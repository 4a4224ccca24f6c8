import Testing
@Test func zz() {
  print(Reading("""
    # c
    job: nightly blur
    inputs:
      - *.jpg
      - photos/**/*.jpg # x
    filters:
      - gausian: {radius: 12}
      - gaussian: {radius: 1200, sigma: 2}
      - gaussian: 12
      - motion:
          length: 400
          samples: 3
      - gaussian:
        radius: 3
    output: {dir}/x.png
    save: {quality: 1, background: #fff}
    tyle: auto
    existing: update
    workers: 3
    retries: 1_0
    timeout: 8d
    color: srgbb
    """, set: "filters[0].gausian.radius=14","filters[7]=invert","tile=1e3").messages)
  print(Reading.job("save: {quality: 3}", set: "filters[0].invet=3").messages)
}
