#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read kith's catalogues with the tools that they are written for, and print what they found as
JSON. Run by test_fof_layouts.py with the Python of build/readers, which .ci/readers makes.

    python read_catalogues.py yt|pynbody|swiftsimio FILE
"""
import json
import sys
import warnings

warnings.simplefilter("ignore")


def by_yt(path):
    import yt  # pylint: disable=import-outside-toplevel
    yt.set_log_level(50)
    dataset = yt.load(path)
    group = dataset.all_data()
    return {"box": float(dataset.domain_width[0].to("Mpccm/h")),
            "mass": group["Group", "particle_mass"].to("Msun/h").tolist(),
            "position": group["Group", "particle_position"].to("Mpccm/h").tolist(),
            "velocity": group["Group", "particle_velocity_x"].to("km/s").tolist()}


def by_pynbody(path):
    """The catalogue beside a sorted snapshot."""
    import pynbody  # pylint: disable=import-outside-toplevel
    snapshot = pynbody.load(path)
    units = snapshot.conversion_context()
    halos = snapshot.halos()
    out = {"members": [], "mass": [], "position": [], "velocity": [], "particles": []}
    for halo in halos:
        facts = halo.properties
        out["members"].append(int(facts["GroupLen"]))
        out["mass"].append(float(facts["GroupMass"].in_units("Msol h**-1", **units)))
        out["position"].append(facts["GroupPos"].in_units("Mpc a h**-1", **units).tolist())
        out["velocity"].append(float(facts["GroupVel"].in_units("km s**-1", **units)[0]))
        mass = halo["mass"].in_units("Msol h**-1", **units)
        speed = halo["vel"].in_units("km s**-1", **units)[:, 0]
        out["particles"].append([len(halo), float(mass.sum()), float((mass * speed).sum())])
    return out


def by_swiftsimio(path):
    import swiftsimio  # pylint: disable=import-outside-toplevel
    data = swiftsimio.load(path)
    group, facts = data.fof_groups, data.metadata
    return {"box": float(facts.boxsize[0].to("Mpc")), "hubble": float(facts.cosmology.H0.value),
            "redshift": float(facts.z), "mass": group.masses.to("Msun").tolist(),
            "position": group.centres.to("Mpc").tolist(), "members": group.sizes.tolist()}


print(json.dumps({"yt": by_yt, "pynbody": by_pynbody,
                  "swiftsimio": by_swiftsimio}[sys.argv[1]](sys.argv[2])))
