"""Relative dates as said on Monday, 8 May 2023."""

from datetime import date

import pytest

from strandline.domain.rules.dates import gloss, resolve

AT = date(2023, 5, 8)

DAYS = [
    ("I ran a race yesterday.", "I ran a race on 7 May 2023."),
    ("Yesterday I ran a race.", "On 7 May 2023 I ran a race."),
    ("Yesterday was hard.", "Yesterday (7 May 2023) was hard."),
    ("Yesterday's race was hard.", "Yesterday's (7 May 2023) race was hard."),
    ("I heard it the day before yesterday.", "I heard it on 6 May 2023."),
    ("We leave the day after tomorrow.", "We leave on 10 May 2023."),
    ("I'm off to Rome tomorrow.", "I'm off to Rome on 9 May 2023."),
    ("I have a test tomorrow morning.", "I have a test on the morning of 9 May 2023."),
    ("I slept badly last night.", "I slept badly on the night of 7 May 2023."),
    ("I jogged this morning.", "I jogged on the morning of 8 May 2023."),
    ("This morning was cold.", "This morning (8 May 2023) was cold."),
    ("I'm cooking tonight.", "I'm cooking on the evening of 8 May 2023."),
    ("I've been ill since yesterday.", "I've been ill since 7 May 2023."),
    ("I need it by tomorrow.", "I need it by 9 May 2023."),
    ("I met him three days ago.", "I met him on 5 May 2023."),
    ("I'll be back in three days.", "I'll be back on 11 May 2023."),
    ("I read it in two days.", "I read it in two days."),
    ("It feels like yesterday.", "It feels like yesterday."),
]

WEEKDAYS = [
    ("I saw her last Friday.", "I saw her on Friday 5 May 2023."),
    ("Last Friday I saw her.", "On Friday 5 May 2023 I saw her."),
    ("I saw her last Monday.", "I saw her on Monday 1 May 2023."),
    ("I called him last Tues. and cried", "I called him on Tuesday 2 May 2023 and cried"),
    ("We met on Saturday.", "We met on Saturday 6 May 2023."),
    ("We will meet on Saturday.", "We will meet on Saturday 13 May 2023."),
    ("I'm seeing him this Friday.", "I'm seeing him on Friday 12 May 2023."),
    ("I start next Monday.", "I start on Monday 15 May 2023."),
    ("I went on Tuesday night.", "I went on the night of Tuesday 2 May 2023."),
    ("I will finish by Friday.", "I will finish by Friday 12 May 2023."),
    ("We go on Monday the 15th.", "We go on Monday 15 May 2023."),
    ("We go on Monday, May 15.", "We go on Monday, 15 May 2023."),
    ("I need it by Friday.", "I need it by Friday 12 May 2023."),
    ("The deadline is March 3.", "The deadline is 3 March 2024."),
    ("Friday was nice.", "Friday (5 May 2023) was nice."),
    ("See you at 5 on Friday.", "See you at 5 on Friday."),
    ("I swim on Fridays.", "I swim on Fridays."),
    ("I bought it on Black Friday.", "I bought it on Black Friday."),
]

DAYS_OF_MONTHS = [
    ("The exam is on the 18th.", "The exam is on 18 May 2023."),
    ("I went there on the 3rd.", "I went there on 3 May 2023."),
    ("I went there on the 20th.", "I went there on 20 April 2023."),
    ("I started on the 31st.", "I started on 31 March 2023."),
    ("We fly next month, on the 20th.", "We fly in June 2023, on 20 June 2023."),
    ("We live on the 5th floor.", "We live on the 5th floor."),
    ("My exam was on May 2.", "My exam was on 2 May 2023."),
    ("My exam will be on May 20th.", "My exam will be on 20 May 2023."),
    ("It was on the 3rd of June.", "It was on 3 June 2022."),
    ("I was in Oslo on 12 April.", "I was in Oslo on 12 April 2023."),
    ("I was in Oslo on 12 April 2019.", "I was in Oslo on 12 April 2019."),
    ("I was in Oslo on April 12, 2019.", "I was in Oslo on April 12, 2019."),
    ("We'll go on February 30.", "We'll go on February 30."),
    ("My birthday is on May 20.", "My birthday is on May 20."),
    ("It snows every year on 3 March.", "It snows every year on 3 March."),
]

WEEKS = [
    ("I moved here last week.", "I moved here the week before 8 May 2023."),
    ("Last week was hard.", "The week before 8 May 2023 was hard."),
    ("We swam all last week.", "We swam all last week (the week before 8 May 2023)."),
    ("Last week's race was fun.", "Last week's (the week before 8 May 2023) race was fun."),
    ("We met last weekend.", "We met the weekend before 8 May 2023."),
    ("The fair is next weekend.", "The fair is the weekend after 8 May 2023."),
    ("I'm busy this week.", "I'm busy in the week of 8 May 2023."),
    ("I did it earlier this week.", "I did it earlier in the week of 8 May 2023."),
    ("We met two weeks ago.", "We met two weeks before 8 May 2023."),
    ("We moved a week ago.", "We moved a week before 8 May 2023."),
    ("I bought it a couple of weeks ago.", "I bought it a couple of weeks before 8 May 2023."),
    ("I met him a few days ago.", "I met him a few days before 8 May 2023."),
    ("I'm going to move in two weeks.", "I'm going to move two weeks after 8 May 2023."),
    ("I lost it the week before last.", "I lost it the week before last (two weeks before 8 May 2023)."),
    ("I've been busy for the last few weeks.", "I've been busy for the last few weeks."),
]

MONTHS_AND_YEARS = [
    ("I got it last month.", "I got it in April 2023."),
    ("Next month is our fair.", "June 2023 is our fair."),
    ("We fly early next month.", "We fly early June 2023."),
    ("I was there last June.", "I was there in June 2022."),
    ("I was in Oslo in April.", "I was in Oslo in April 2023."),
    ("I was in Oslo in April 2019.", "I was in Oslo in April 2019."),
    ("We will hike in June.", "We will hike in June 2023."),
    ("We hiked in June.", "We hiked in June 2022."),
    ("I may go and they march on.", "I may go and they march on."),
    ("I quit three months ago.", "I quit three months ago (February 2023)."),
    ("I quit half a year ago.", "I quit half a year ago (November 2022)."),
    ("We camped last summer.", "We camped in the summer of 2022."),
    ("We will camp this summer.", "We will camp in the summer of 2023."),
    ("Last winter was cold.", "Last winter (said on 8 May 2023) was cold."),
    ("We met last Christmas.", "We met last Christmas (December 2022)."),
    ("I did it last year.", "I did it in 2022."),
    ("This year has been good.", "2023 has been good."),
    ("It was the best of last year.", "It was the best of 2022."),
    ("I graduated two years ago.", "I graduated two years ago (2021)."),
    ("We will marry in a year.", "We will marry in a year (2024)."),
    ("I've lived here for five years.", "I've lived here for five years (since about 2018)."),
    ("He ran for two years.", "He ran for two years."),
    ("I moved in 2015.", "I moved in 2015."),
]


@pytest.mark.parametrize(
    ("said", "means"), [*DAYS, *WEEKDAYS, *DAYS_OF_MONTHS, *WEEKS, *MONTHS_AND_YEARS], ids=lambda text: text
)
def test_what_a_date_means_on_the_day_it_is_said(said: str, means: str) -> None:
    assert resolve(said, AT).text == means


@pytest.mark.parametrize(
    ("at", "said", "means"),
    [
        (date(2024, 1, 1), "I left yesterday.", "I left on 31 December 2023."),
        (date(2024, 1, 15), "I left last month.", "I left in December 2023."),
        (date(2023, 12, 15), "We fly next month.", "We fly in January 2024."),
        (date(2024, 2, 28), "We fly tomorrow.", "We fly on 29 February 2024."),
        (date(2024, 3, 31), "I left a month ago.", "I left a month ago (February 2024)."),
        (date(2022, 9, 20), "We camped last summer.", "We camped in the summer of 2022."),
        (date(2023, 11, 2), "We will marry in March.", "We will marry in March 2024."),
        (date(2023, 5, 12), "I left last Friday.", "I left on Friday 5 May 2023."),
        (date(1, 1, 1), "I left yesterday.", "I left yesterday."),
        (date(1, 1, 1), "I left 200 years ago.", "I left 200 years ago."),
        (date(9999, 12, 31), "We fly tomorrow, or next month.", "We fly tomorrow, or next month."),
    ],
)
def test_at_the_edges_of_the_calendar(at: date, said: str, means: str) -> None:
    assert resolve(said, at).text == means


def test_a_quotation_keeps_its_words_and_gets_the_date_in_brackets() -> None:
    quoted = gloss("We met last Friday, two years ago and in June.", AT)
    assert quoted.text == "We met last Friday [5 May 2023], two years ago [2021] and in June [June 2022]."
    assert quoted.dated


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("I left yesterday.", True),
        ("I left in 2015.", True),
        ("I left.", False),
        ("I have 2150 stamps.", False),
    ],
)
def test_what_names_its_own_date_is_dated(said: str, dated: bool) -> None:
    assert resolve(said, AT).dated is dated
